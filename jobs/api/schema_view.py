"""/api/schema."""

from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.views import SpectacularAPIView
from rest_framework.permissions import IsAuthenticated


class SchemaView(SpectacularAPIView):
    """The OpenAPI schema as JSON, for the signed in."""

    permission_classes = [IsAuthenticated]
    renderer_classes = [OpenApiJsonRenderer]
