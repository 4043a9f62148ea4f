from django.db import migrations, models

import scheduler_admin.core.json_decoder


class Migration(migrations.Migration):
    dependencies = [("clusters", "0012_group_scheduling")]

    operations = [
        migrations.AlterField(
            model_name="clusterstatus",
            name="queues",
            field=models.JSONField(decoder=scheduler_admin.core.json_decoder.QuickDecoder, default=dict),
        ),
    ]
