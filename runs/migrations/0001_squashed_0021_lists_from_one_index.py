"""All tables at once, as those 21 make them one after another: a new database is ready in half the time.

What they do to rows that stand, and to indexes that later ones drop, a new database has no use for.
"""

import django.contrib.auth.models
import django.contrib.auth.validators
import django.core.serializers.json
import django.db.models.deletion
import django.db.models.functions.comparison
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("runs", "0001_initial"),
        ("runs", "0002_repository"),
        ("runs", "0003_backfill_owners"),
        ("runs", "0004_run_statistics"),
        ("runs", "0005_durability_memory_and_doubt"),
        ("runs", "0006_publication_content"),
        ("runs", "0007_imports_read_by_workers"),
        ("runs", "0008_login_tries"),
        ("runs", "0009_batches"),
        ("runs", "0010_batches_of_stored_runs"),
        ("runs", "0011_every_run_has_a_batch"),
        ("runs", "0012_durability_of_storage"),
        ("runs", "0013_role_of_a_factor"),
        ("runs", "0014_arrivals_of_stored_runs"),
        ("runs", "0015_stored_selections"),
        ("runs", "0016_frozen_reports"),
        ("runs", "0017_tool_descriptions"),
        ("runs", "0018_no_index_of_deleted_runs"),
        ("runs", "0019_annotations"),
        ("runs", "0020_indexes_of_lists"),
        ("runs", "0021_lists_from_one_index"),
    ]

    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="Dbms",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(max_length=120, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("vendor", models.CharField(blank=True, max_length=200)),
                ("aliases", models.JSONField(blank=True, default=list)),
            ],
            options={
                "verbose_name": "DBMS",
                "verbose_name_plural": "DBMSs",
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="LoginTries",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("count", models.PositiveIntegerField(default=0)),
                ("last_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ("known", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="Publication",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(max_length=120, unique=True)),
                ("title_original", models.CharField(max_length=300)),
                ("title_en", models.CharField(max_length=300)),
                ("author", models.CharField(blank=True, max_length=200)),
                ("publisher", models.CharField(blank=True, max_length=200)),
                ("language", models.CharField(max_length=10)),
                ("published_on", models.DateField(blank=True, null=True)),
                ("details", models.JSONField(blank=True, default=dict)),
                ("content", models.JSONField(blank=True, default=dict)),
                ("checks", models.JSONField(blank=True, default=list)),
            ],
            options={
                "ordering": ["published_on", "slug"],
            },
        ),
        migrations.CreateModel(
            name="StoredSelection",
            fields=[
                ("id", models.CharField(max_length=12, primary_key=True, serialize=False)),
                ("query", models.TextField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("viewer", "Viewer"),
                            ("contributor", "Contributor"),
                            ("operator", "Operator"),
                            ("admin", "Administrator"),
                        ],
                        default="viewer",
                        max_length=16,
                    ),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=120)),
                ("prefix", models.CharField(max_length=16)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("scopes", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="tokens", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Batch",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("label", models.CharField(blank=True, max_length=120)),
                ("tags", models.TextField(blank=True)),
                ("note", models.TextField(blank=True)),
                ("tested", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="batches",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [
                    models.Index(fields=["tags"], name="batch_tags"),
                    models.Index(fields=["label"], name="batch_label"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Change",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("target_type", models.CharField(max_length=40)),
                ("target_id", models.CharField(max_length=40)),
                ("field", models.CharField(max_length=80)),
                ("old", models.JSONField(null=True)),
                ("new", models.JSONField(null=True)),
                ("reason", models.TextField(blank=True)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-at", "-id"],
                "indexes": [models.Index(fields=["target_type", "target_id"], name="runs_change_target__fd83bf_idx")],
            },
        ),
        migrations.CreateModel(
            name="DbmsVersion",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(max_length=120, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("version", models.CharField(max_length=120)),
                ("architecture", models.CharField(blank=True, max_length=60)),
                ("aliases", models.JSONField(blank=True, default=list)),
                ("source_id", models.CharField(blank=True, max_length=120)),
                ("note", models.TextField(blank=True)),
                (
                    "dbms",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="versions", to="runs.dbms"
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("dbms", "version", "architecture"), name="dbms_version_architecture"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Config",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(max_length=120, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("digest", models.CharField(blank=True, db_index=True, max_length=64)),
                ("source_id", models.CharField(blank=True, max_length=120)),
                ("revision", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("file_name", models.CharField(blank=True, max_length=200)),
                ("details", models.JSONField(blank=True, default=dict)),
                ("note", models.TextField(blank=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "revision_of",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="later_revisions",
                        to="runs.config",
                    ),
                ),
                (
                    "dbms",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="configs",
                        to="runs.dbms",
                    ),
                ),
                ("applies_to", models.ManyToManyField(blank=True, related_name="configs", to="runs.dbmsversion")),
                (
                    "publication",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="configs",
                        to="runs.publication",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="ConfigFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=200)),
                ("format", models.CharField(blank=True, max_length=40)),
                ("text", models.TextField()),
                (
                    "config",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="files", to="runs.config"
                    ),
                ),
            ],
            options={
                "ordering": ["config", "position"],
                "constraints": [models.UniqueConstraint(fields=("config", "position"), name="config_file_position")],
            },
        ),
        migrations.CreateModel(
            name="ConfigParameter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("line", models.PositiveIntegerField(blank=True, null=True)),
                ("position", models.PositiveIntegerField()),
                ("section", models.CharField(blank=True, max_length=120)),
                ("name", models.CharField(max_length=200)),
                ("value", models.TextField(blank=True, null=True)),
                ("unit", models.CharField(blank=True, max_length=40)),
                ("comment", models.TextField(blank=True)),
                (
                    "provenance",
                    models.CharField(
                        choices=[
                            ("measured", "Measured"),
                            ("uploaded", "Uploaded"),
                            ("printed", "Printed"),
                            ("reconstructed", "Reconstructed"),
                            ("recovered", "Recovered from another page"),
                            ("inferred", "Inferred"),
                            ("computed", "Computed"),
                            ("lost_in_picture", "Lost in a picture"),
                        ],
                        default="measured",
                        max_length=20,
                    ),
                ),
                (
                    "config",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="parameters", to="runs.config"
                    ),
                ),
                (
                    "file",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parameters",
                        to="runs.configfile",
                    ),
                ),
            ],
            options={
                "ordering": ["config", "position"],
                "constraints": [models.UniqueConstraint(fields=("config", "position"), name="config_position")],
            },
        ),
        migrations.CreateModel(
            name="Experiment",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(max_length=120, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("demonstration", models.BooleanField(default=False)),
                (
                    "visibility",
                    models.CharField(
                        choices=[("public", "Public"), ("unlisted", "Unlisted"), ("private", "Private")],
                        default="public",
                        max_length=10,
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("plan", models.JSONField(blank=True, default=dict)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="experiments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="FileImport",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("digest", models.CharField(max_length=64)),
                ("parser_version", models.PositiveIntegerField()),
                ("subject", models.JSONField(blank=True, default=dict)),
                ("items", models.JSONField(blank=True, default=list)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("stored_at", models.DateTimeField(blank=True, null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("reading", "Being read"),
                            ("draft", "Draft"),
                            ("stored", "Stored"),
                            ("failed", "Not read"),
                        ],
                        default="draft",
                        max_length=10,
                    ),
                ),
                ("problem", models.TextField(blank=True)),
                ("progress", models.JSONField(blank=True, default=dict)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("seen_at", models.DateTimeField(blank=True, null=True)),
                ("reports", models.FileField(blank=True, max_length=300, upload_to="imports/%Y/%m/")),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="file_imports",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "constraints": [
                    models.UniqueConstraint(fields=("owner", "digest"), name="file_import_digest_per_owner")
                ],
            },
        ),
        migrations.CreateModel(
            name="Metric",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=120)),
                ("unit", models.CharField(blank=True, max_length=40)),
                ("label", models.CharField(max_length=200)),
                (
                    "better",
                    models.CharField(
                        choices=[("higher", "Higher is better"), ("lower", "Lower is better"), ("none", "Descriptive")],
                        default="none",
                        max_length=8,
                    ),
                ),
            ],
            options={
                "ordering": ["name", "unit"],
                "constraints": [models.UniqueConstraint(fields=("name", "unit"), name="metric_name_unit")],
            },
        ),
        migrations.CreateModel(
            name="MissingItem",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("position", models.PositiveIntegerField()),
                ("details", models.JSONField(blank=True, default=dict)),
                ("source_id", models.CharField(max_length=120)),
                ("is_document", models.BooleanField(default=False)),
                ("kind", models.CharField(blank=True, max_length=120)),
                ("content", models.TextField(blank=True)),
                (
                    "publication",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="%(class)ss", to="runs.publication"
                    ),
                ),
            ],
            options={
                "ordering": ["publication", "position"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="IndexStat",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("position", models.PositiveIntegerField()),
                ("details", models.JSONField(blank=True, default=dict)),
                ("index", models.CharField(max_length=120)),
                ("table", models.CharField(max_length=120)),
                ("depth", models.PositiveIntegerField(null=True)),
                ("keys", models.BigIntegerField(null=True)),
                ("key_length_bytes", models.FloatField(null=True)),
                ("unique_keys", models.BigIntegerField(null=True)),
                ("size_mb", models.FloatField(null=True)),
                (
                    "publication",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="%(class)ss", to="runs.publication"
                    ),
                ),
            ],
            options={
                "ordering": ["publication", "position"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="HardwareProfile",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(max_length=120, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("source_id", models.CharField(blank=True, max_length=120)),
                ("fingerprint", models.CharField(blank=True, db_index=True, max_length=64)),
                (
                    "provenance",
                    models.CharField(
                        choices=[
                            ("measured", "Measured"),
                            ("uploaded", "Uploaded"),
                            ("printed", "Printed"),
                            ("reconstructed", "Reconstructed"),
                            ("recovered", "Recovered from another page"),
                            ("inferred", "Inferred"),
                            ("computed", "Computed"),
                            ("lost_in_picture", "Lost in a picture"),
                        ],
                        default="uploaded",
                        max_length=20,
                    ),
                ),
                ("os", models.CharField(blank=True, max_length=200)),
                ("kernel", models.CharField(blank=True, max_length=200)),
                ("cpu_model", models.CharField(blank=True, max_length=200)),
                ("cpu_cores", models.PositiveIntegerField(blank=True, null=True)),
                ("cpu_threads", models.PositiveIntegerField(blank=True, null=True)),
                ("ram_bytes", models.BigIntegerField(blank=True, null=True)),
                ("motherboard", models.CharField(blank=True, max_length=200)),
                ("virtualisation", models.CharField(blank=True, max_length=100)),
                ("details", models.JSONField(blank=True, default=dict)),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "merged_into",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="merged",
                        to="runs.hardwareprofile",
                    ),
                ),
                (
                    "publication",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="hardware",
                        to="runs.publication",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Fact",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("position", models.PositiveIntegerField()),
                ("details", models.JSONField(blank=True, default=dict)),
                (
                    "provenance",
                    models.CharField(
                        choices=[
                            ("measured", "Measured"),
                            ("uploaded", "Uploaded"),
                            ("printed", "Printed"),
                            ("reconstructed", "Reconstructed"),
                            ("recovered", "Recovered from another page"),
                            ("inferred", "Inferred"),
                            ("computed", "Computed"),
                            ("lost_in_picture", "Lost in a picture"),
                        ],
                        max_length=20,
                    ),
                ),
                ("title", models.TextField()),
                ("how", models.TextField(blank=True)),
                (
                    "publication",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="%(class)ss", to="runs.publication"
                    ),
                ),
            ],
            options={
                "ordering": ["publication", "position"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="DataSchema",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("position", models.PositiveIntegerField()),
                ("tables", models.JSONField(default=list)),
                ("columns", models.JSONField(default=list)),
                ("primary_key", models.JSONField(default=list)),
                ("indexes", models.JSONField(default=list)),
                ("details", models.JSONField(blank=True, default=dict)),
                (
                    "publication",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="schemas", to="runs.publication"
                    ),
                ),
            ],
            options={
                "ordering": ["publication", "position"],
            },
        ),
        migrations.CreateModel(
            name="Claim",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("position", models.PositiveIntegerField()),
                ("details", models.JSONField(blank=True, default=dict)),
                ("source_id", models.CharField(max_length=120)),
                ("metric", models.CharField(max_length=200)),
                ("side_a", models.JSONField(blank=True, default=dict)),
                ("side_b", models.JSONField(blank=True, default=dict)),
                ("percent", models.FloatField(blank=True, null=True)),
                ("ratio", models.FloatField(blank=True, null=True)),
                ("sense", models.TextField(blank=True)),
                ("approximate", models.BooleanField(default=False)),
                ("ambiguous", models.BooleanField(default=False)),
                ("summary", models.TextField(blank=True)),
                (
                    "publication",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="%(class)ss", to="runs.publication"
                    ),
                ),
            ],
            options={
                "ordering": ["publication", "position"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="QueryStat",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("position", models.PositiveIntegerField()),
                ("details", models.JSONField(blank=True, default=dict)),
                ("number", models.PositiveIntegerField()),
                ("sql", models.TextField()),
                ("plan", models.TextField(blank=True)),
                ("description", models.TextField(blank=True)),
                ("metrics", models.JSONField(default=list)),
                ("count_result", models.BigIntegerField(null=True)),
                (
                    "publication",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="%(class)ss", to="runs.publication"
                    ),
                ),
            ],
            options={
                "ordering": ["publication", "position"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(max_length=120, unique=True)),
                ("name", models.CharField(max_length=200)),
                (
                    "visibility",
                    models.CharField(
                        choices=[("public", "Public"), ("unlisted", "Unlisted"), ("private", "Private")],
                        default="public",
                        max_length=10,
                    ),
                ),
                ("query", models.TextField()),
                ("note", models.TextField(blank=True)),
                (
                    "frozen",
                    models.JSONField(blank=True, encoder=django.core.serializers.json.DjangoJSONEncoder, null=True),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("deleted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="reports",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("digest", models.CharField(max_length=64)),
                ("schema_version", models.PositiveIntegerField()),
                (
                    "visibility",
                    models.CharField(
                        choices=[("public", "Public"), ("unlisted", "Unlisted"), ("private", "Private")],
                        default="public",
                        max_length=10,
                    ),
                ),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("document", models.JSONField(default=dict)),
                (
                    "file_import",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="uploads",
                        to="runs.fileimport",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="uploads",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="uploads",
                        to="runs.apitoken",
                    ),
                ),
            ],
            options={
                "ordering": ["-received_at"],
            },
        ),
        migrations.CreateModel(
            name="Workload",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(max_length=120, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("version", models.CharField(blank=True, max_length=40)),
                ("kind", models.CharField(blank=True, max_length=60)),
                ("summary", models.TextField(blank=True)),
                ("source_id", models.CharField(blank=True, max_length=120)),
                ("primary_metric", models.CharField(blank=True, max_length=80)),
                ("details", models.JSONField(blank=True, default=dict)),
                (
                    "publication",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="workloads",
                        to="runs.publication",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("label", models.CharField(blank=True, max_length=120)),
                ("tags", models.TextField(blank=True)),
                ("note", models.TextField(blank=True)),
                ("tested", models.JSONField(blank=True, default=dict)),
                ("cell_key", models.CharField(blank=True, db_index=True, max_length=64)),
                ("source_id", models.CharField(blank=True, db_index=True, max_length=120)),
                (
                    "visibility",
                    models.CharField(
                        choices=[("public", "Public"), ("unlisted", "Unlisted"), ("private", "Private")],
                        default="public",
                        max_length=10,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("assigned", "Assigned"),
                            ("preparing", "Preparing"),
                            ("loading", "Loading"),
                            ("warming_up", "Warming up"),
                            ("measuring", "Measuring"),
                            ("collecting", "Collecting"),
                            ("finished", "Finished"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                            ("lost", "Lost"),
                            ("value_missing", "Value missing"),
                        ],
                        db_index=True,
                        default="queued",
                        max_length=20,
                    ),
                ),
                ("state_changed_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "provenance",
                    models.CharField(
                        choices=[
                            ("measured", "Measured"),
                            ("uploaded", "Uploaded"),
                            ("printed", "Printed"),
                            ("reconstructed", "Reconstructed"),
                            ("recovered", "Recovered from another page"),
                            ("inferred", "Inferred"),
                            ("computed", "Computed"),
                            ("lost_in_picture", "Lost in a picture"),
                        ],
                        db_index=True,
                        default="measured",
                        max_length=20,
                    ),
                ),
                ("demonstration", models.BooleanField(default=False)),
                ("repeat", models.PositiveIntegerField(default=1)),
                ("order_index", models.PositiveIntegerField(blank=True, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("measured_on", models.DateField(blank=True, null=True)),
                (
                    "durability",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("power_loss", "a commit survives power loss"),
                            ("dbms_crash", "a commit survives a crash of the DBMS, not of the machine"),
                            ("bounded_loss", "the last moments of commits may be lost in a crash"),
                            ("none", "a commit may be lost in any crash"),
                            ("memory", "the database is in memory: nothing outlives the process"),
                        ],
                        max_length=20,
                    ),
                ),
                ("durability_reason", models.TextField(blank=True)),
                ("durability_doubt", models.TextField(blank=True)),
                ("effective_settings", models.JSONField(blank=True, default=list)),
                ("ignored_settings", models.JSONField(blank=True, default=list)),
                ("driver", models.JSONField(blank=True, default=dict)),
                ("dataset", models.JSONField(blank=True, default=dict)),
                ("command_lines", models.JSONField(blank=True, default=list)),
                ("checks", models.JSONField(blank=True, default=list)),
                ("warnings", models.JSONField(blank=True, default=list)),
                ("per_terminal", models.JSONField(blank=True, default=list)),
                ("statistics", models.JSONField(blank=True, default=dict)),
                ("latency_histogram", models.TextField(blank=True)),
                ("context", models.JSONField(blank=True, default=dict)),
                ("info", models.JSONField(blank=True, default=dict)),
                ("message", models.TextField(blank=True)),
                ("primary_value", models.FloatField(blank=True, editable=False, null=True)),
                ("missing_metric", models.CharField(blank=True, max_length=120)),
                ("missing_reason", models.TextField(blank=True)),
                ("invalid_at", models.DateTimeField(blank=True, null=True)),
                ("invalid_reason", models.TextField(blank=True)),
                ("deleted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="runs.batch"
                    ),
                ),
                (
                    "config",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="runs.config",
                    ),
                ),
                (
                    "dbms_version",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="runs.dbmsversion",
                    ),
                ),
                (
                    "experiment",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="runs",
                        to="runs.experiment",
                    ),
                ),
                (
                    "hardware",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="runs.hardwareprofile",
                    ),
                ),
                (
                    "invalid_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="runs",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "publication",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="runs",
                        to="runs.publication",
                    ),
                ),
                (
                    "upload",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="runs",
                        to="runs.upload",
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="runs.workload",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "order_index", "repeat", "id"],
                "indexes": [
                    models.Index(
                        fields=["dbms_version", "-created_at", "visibility", "owner", "deleted_at"],
                        name="run_newest_of_dbms",
                    ),
                    models.Index(
                        fields=["hardware", "-created_at", "visibility", "owner", "deleted_at"],
                        name="run_newest_of_hardware",
                    ),
                    models.Index(
                        fields=["config", "-created_at", "visibility", "owner", "deleted_at"],
                        name="run_newest_of_config",
                    ),
                    models.Index(fields=["primary_value"], name="run_value"),
                    models.Index(
                        models.OrderBy(
                            django.db.models.functions.comparison.Coalesce("started_at", "created_at"), descending=True
                        ),
                        condition=models.Q(("deleted_at", None)),
                        name="run_latest",
                    ),
                    models.Index(fields=["started_at"], name="run_started"),
                    models.Index(fields=["measured_on"], name="run_measured_on"),
                    models.Index(fields=["tags"], name="run_tags"),
                    models.Index(fields=["label"], name="run_label"),
                    models.Index(
                        condition=models.Q(("deleted_at", None)),
                        fields=[
                            "-created_at",
                            "order_index",
                            "repeat",
                            "id",
                            "visibility",
                            "owner",
                            "deleted_at",
                            "state",
                            "provenance",
                            "publication",
                            "workload",
                            "dbms_version",
                            "hardware",
                            "config",
                            "primary_value",
                            "measured_on",
                            "durability",
                            "demonstration",
                            "invalid_at",
                        ],
                        name="run_newest",
                    ),
                    models.Index(
                        fields=["workload", "-created_at", "visibility", "owner", "deleted_at"],
                        name="run_newest_of_workload",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("source_id", ""), _negated=True),
                        fields=("publication", "source_id"),
                        name="run_source_id_per_publication",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Measurement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("phase", models.CharField(default="run", max_length=20)),
                ("value", models.FloatField()),
                ("as_printed", models.CharField(blank=True, max_length=60)),
                (
                    "provenance",
                    models.CharField(
                        choices=[
                            ("measured", "Measured"),
                            ("uploaded", "Uploaded"),
                            ("printed", "Printed"),
                            ("reconstructed", "Reconstructed"),
                            ("recovered", "Recovered from another page"),
                            ("inferred", "Inferred"),
                            ("computed", "Computed"),
                            ("lost_in_picture", "Lost in a picture"),
                        ],
                        default="measured",
                        max_length=20,
                    ),
                ),
                ("note", models.TextField(blank=True)),
                (
                    "metric",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="measurements",
                        to="runs.metric",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="measurements",
                        to="runs.run",
                    ),
                ),
            ],
            options={
                "ordering": ["metric__name", "phase"],
                "indexes": [models.Index(fields=["metric", "value"], name="measurement_value")],
                "constraints": [models.UniqueConstraint(fields=("run", "metric", "phase"), name="measurement_per_run")],
            },
        ),
        migrations.CreateModel(
            name="Annotation",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("at_s", models.FloatField()),
                ("text", models.CharField(max_length=300)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="annotations", to="runs.run"
                    ),
                ),
            ],
            options={
                "ordering": ["at_s", "created_at", "id"],
            },
        ),
        migrations.CreateModel(
            name="RunFactor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80)),
                ("number", models.FloatField(blank=True, null=True)),
                ("text", models.CharField(blank=True, max_length=300)),
                ("unit", models.CharField(blank=True, max_length=40)),
                ("role", models.CharField(blank=True, default="", max_length=10)),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="factors",
                        to="runs.run",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "indexes": [
                    models.Index(fields=["name", "number"], name="runs_runfac_name_7c6dc6_idx"),
                    models.Index(fields=["name", "text"], name="runs_runfac_name_61eb6a_idx"),
                ],
                "constraints": [models.UniqueConstraint(fields=("run", "name"), name="factor_per_run")],
            },
        ),
        migrations.CreateModel(
            name="SeriesChunk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chunk", models.PositiveIntegerField()),
                ("t0_s", models.FloatField()),
                ("interval_s", models.FloatField()),
                ("count", models.PositiveIntegerField()),
                ("minimum", models.FloatField(null=True)),
                ("maximum", models.FloatField(null=True)),
                ("total", models.FloatField(null=True)),
                ("codec", models.PositiveSmallIntegerField(default=1)),
                ("data", models.BinaryField()),
                (
                    "metric",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="runs.metric"),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="series",
                        to="runs.run",
                    ),
                ),
            ],
            options={
                "ordering": ["run", "metric", "chunk"],
                "constraints": [models.UniqueConstraint(fields=("run", "metric", "chunk"), name="series_chunk")],
            },
        ),
        migrations.CreateModel(
            name="StateChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("assigned", "Assigned"),
                            ("preparing", "Preparing"),
                            ("loading", "Loading"),
                            ("warming_up", "Warming up"),
                            ("measuring", "Measuring"),
                            ("collecting", "Collecting"),
                            ("finished", "Finished"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                            ("lost", "Lost"),
                            ("value_missing", "Value missing"),
                        ],
                        max_length=20,
                    ),
                ),
                ("at", models.DateTimeField()),
                ("message", models.TextField(blank=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="state_changes", to="runs.run"
                    ),
                ),
            ],
            options={
                "ordering": ["at", "id"],
            },
        ),
        migrations.CreateModel(
            name="StorageDevice",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(max_length=120, unique=True)),
                ("name", models.CharField(max_length=200)),
                (
                    "provenance",
                    models.CharField(
                        choices=[
                            ("measured", "Measured"),
                            ("uploaded", "Uploaded"),
                            ("printed", "Printed"),
                            ("reconstructed", "Reconstructed"),
                            ("recovered", "Recovered from another page"),
                            ("inferred", "Inferred"),
                            ("computed", "Computed"),
                            ("lost_in_picture", "Lost in a picture"),
                        ],
                        default="uploaded",
                        max_length=20,
                    ),
                ),
                ("medium", models.CharField(blank=True, max_length=60)),
                ("model", models.CharField(blank=True, max_length=200)),
                ("bus", models.CharField(blank=True, max_length=60)),
                ("capacity_bytes", models.BigIntegerField(blank=True, null=True)),
                ("raid", models.CharField(blank=True, max_length=60)),
                ("file_system", models.CharField(blank=True, max_length=60)),
                ("mount_point", models.CharField(blank=True, max_length=500)),
                ("mount_options", models.CharField(blank=True, max_length=500)),
                ("scheduler", models.CharField(blank=True, max_length=60)),
                ("controller_cache", models.CharField(blank=True, max_length=120)),
                ("write_cache", models.CharField(blank=True, max_length=60)),
                ("emulated", models.BooleanField(default=False)),
                ("details", models.JSONField(blank=True, default=dict)),
                ("note", models.TextField(blank=True)),
                (
                    "hardware",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="storage", to="runs.hardwareprofile"
                    ),
                ),
            ],
            options={
                "ordering": ["hardware", "name"],
                "constraints": [models.UniqueConstraint(fields=("hardware", "name"), name="storage_name_per_hardware")],
            },
        ),
        migrations.CreateModel(
            name="RunStorage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("data", "Data"), ("log", "Log"), ("temp", "Temporary"), ("backup", "Backup")],
                        max_length=10,
                    ),
                ),
                ("path", models.CharField(blank=True, max_length=500)),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="storage",
                        to="runs.run",
                    ),
                ),
                (
                    "device",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="uses", to="runs.storagedevice"
                    ),
                ),
            ],
            options={
                "ordering": ["role"],
                "constraints": [models.UniqueConstraint(fields=("run", "role"), name="storage_role_per_run")],
            },
        ),
        migrations.CreateModel(
            name="TableStat",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("position", models.PositiveIntegerField()),
                ("details", models.JSONField(blank=True, default=dict)),
                ("table", models.CharField(max_length=120)),
                ("records", models.BigIntegerField(null=True)),
                ("record_length_bytes", models.FloatField(null=True)),
                ("data_pages", models.BigIntegerField(null=True)),
                ("table_size_mb", models.FloatField(null=True)),
                ("indices_size_mb", models.FloatField(null=True)),
                ("total_percent", models.FloatField(null=True)),
                ("total_percent_as_printed", models.CharField(blank=True, max_length=20)),
                (
                    "publication",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="%(class)ss", to="runs.publication"
                    ),
                ),
            ],
            options={
                "ordering": ["publication", "position"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ToolDescription",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=60)),
                ("text", models.TextField()),
                ("example", models.TextField()),
                (
                    "visibility",
                    models.CharField(
                        choices=[("public", "Public"), ("unlisted", "Unlisted"), ("private", "Private")],
                        default="private",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tool_descriptions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name", "created_at"],
                "constraints": [
                    models.UniqueConstraint(fields=("owner", "name"), name="tool_description_name_per_owner")
                ],
            },
        ),
        migrations.CreateModel(
            name="Artefact",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("position", models.PositiveIntegerField(default=0)),
                ("name", models.CharField(max_length=255)),
                ("media_type", models.CharField(blank=True, max_length=100)),
                ("size_bytes", models.BigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("file", models.FileField(max_length=300, upload_to="results/%Y/%m/")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "file_import",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="artefacts",
                        to="runs.fileimport",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="artefacts",
                        to="runs.run",
                    ),
                ),
                (
                    "upload",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="artefacts",
                        to="runs.upload",
                    ),
                ),
            ],
            options={
                "ordering": ["position", "name"],
            },
        ),
        migrations.CreateModel(
            name="Observation",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("position", models.PositiveIntegerField()),
                ("details", models.JSONField(blank=True, default=dict)),
                ("metric", models.CharField(max_length=200)),
                ("unit", models.CharField(blank=True, max_length=40)),
                ("value", models.FloatField(null=True)),
                ("value_text", models.CharField(blank=True, max_length=200)),
                ("qualifier", models.CharField(blank=True, max_length=200)),
                ("factors", models.JSONField(blank=True, default=dict)),
                (
                    "provenance",
                    models.CharField(
                        choices=[
                            ("measured", "Measured"),
                            ("uploaded", "Uploaded"),
                            ("printed", "Printed"),
                            ("reconstructed", "Reconstructed"),
                            ("recovered", "Recovered from another page"),
                            ("inferred", "Inferred"),
                            ("computed", "Computed"),
                            ("lost_in_picture", "Lost in a picture"),
                        ],
                        default="printed",
                        max_length=20,
                    ),
                ),
                (
                    "publication",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="%(class)ss", to="runs.publication"
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.workload",
                    ),
                ),
            ],
            options={
                "ordering": ["publication", "position"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Aggregate",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("source_id", models.CharField(max_length=120)),
                ("statistic", models.CharField(max_length=40)),
                ("value", models.FloatField()),
                ("as_printed", models.CharField(blank=True, max_length=60)),
                (
                    "provenance",
                    models.CharField(
                        choices=[
                            ("measured", "Measured"),
                            ("uploaded", "Uploaded"),
                            ("printed", "Printed"),
                            ("reconstructed", "Reconstructed"),
                            ("recovered", "Recovered from another page"),
                            ("inferred", "Inferred"),
                            ("computed", "Computed"),
                            ("lost_in_picture", "Lost in a picture"),
                        ],
                        default="printed",
                        max_length=20,
                    ),
                ),
                ("details", models.JSONField(blank=True, default=dict)),
                (
                    "dbms_version",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="runs.dbmsversion"
                    ),
                ),
                (
                    "metric",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="runs.metric"),
                ),
                (
                    "publication",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="aggregates", to="runs.publication"
                    ),
                ),
                ("of", models.ManyToManyField(related_name="aggregates", to="runs.run")),
                (
                    "workload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="runs.workload"
                    ),
                ),
            ],
            options={
                "ordering": ["publication", "source_id"],
                "constraints": [
                    models.UniqueConstraint(fields=("publication", "source_id"), name="aggregate_source_id")
                ],
            },
        ),
    ]
