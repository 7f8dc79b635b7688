"""What the REST door gives out: domain values as JSON, by the domain's own words."""
