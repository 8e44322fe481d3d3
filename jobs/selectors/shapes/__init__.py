"""What the API and the live messages say about rows: one closed shape each, their TypeScript is generated from these."""
