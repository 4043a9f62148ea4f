"""What each tally says has a digest, so that a reader who knows it need not read it again."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("history", "0012_keyframes_in_pieces")]

    operations = [
        migrations.AddField(
            model_name="tally",
            name="digest",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Digest of the kinds that were calculated last. Empty if an earlier version calculated them.",
                max_length=32,
            ),
        ),
    ]
