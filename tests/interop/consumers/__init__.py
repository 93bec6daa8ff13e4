"""The programs that open our exports, and scripts that start them."""
