from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Invoice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "trouble",
                    models.CharField(
                        blank=True, choices=[("", "None"), ("away", "Away"), ("bug", "Bug")], default="", max_length=8
                    ),
                ),
                ("settled_count", models.IntegerField(default=0)),
            ],
        ),
    ]
