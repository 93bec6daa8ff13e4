"""The programs that open our exports, and scripts that have them do it."""
