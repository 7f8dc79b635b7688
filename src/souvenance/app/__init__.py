"""One file per verb: what Souvenance can do, told as stories over the ports."""
