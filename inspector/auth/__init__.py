"""Authorization: flows that decide each request and question without I/O, and the runner that performs them."""
