"""What the main screen shows and offers, without Textual: frozen state, pure rules, tested without a screen."""
