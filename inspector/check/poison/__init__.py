"""Text that gives orders to a model: one rule for each family of poisoned definitions, results and errors.

`judge.judge_text` reads one text. It is the only entry for texts; `names` compares names. A finding quotes the words
and says which family they belong to. It never says that a server is malicious: warnings and examples can look alike.
"""
