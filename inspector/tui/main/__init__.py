"""The main screen: its layout, header, tabs and footer."""
