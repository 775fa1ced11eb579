"""What a fit is made of: private steps, one per file. Only here do rows meet noise."""
