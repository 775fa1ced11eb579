"""The workbench: from a table to a published release in a browser, on the owner's machine."""
