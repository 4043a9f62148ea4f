from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("history", "0011_pod_places")]

    operations = [
        migrations.AddField(
            model_name="journalsegment",
            name="complete",
            field=models.BooleanField(
                db_default=True, default=True, help_text="Whether the keyframe that it begins with is fully stored."
            ),
        ),
    ]
