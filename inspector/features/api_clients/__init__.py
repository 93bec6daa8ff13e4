"""Makes saved calls of the collections of API clients: Postman, Bruno, Insomnia."""

from inspector.feature import Feature

FEATURE = Feature("api_clients", calls_importer="saved_calls:IMPORTER")
