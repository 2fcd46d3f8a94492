"""The commands that measure a reader's models: `superposition diagnose`, `survey` and `record check`."""

import os

import click

from superposition.cli.terminal import REAL, WHOLE, bar, drawable, refusals, say, writable


@click.group("record")
def record_group():
    """Records: whether your code is better than the best known one."""


@record_group.command("check")
@click.argument("file")
@click.option("--p", type=REAL, required=True, help="Probability that a feature is on, between 0 and 1.")
@click.option("--instance", type=WHOLE, metavar="N", help="Which of several models, from 0; by default the first.")
def check_record(file, p, instance):
    """Measure the weights in FILE and say whether they are a record.

    FILE is any file of a toy model that `superposition diagnose` opens.
    """
    with refusals():
        from superposition.diagnosis import record_verifier

        say(record_verifier.of_file(file, p, instance))


@click.command()
@click.argument("file")
@click.option("--p", type=REAL, help="Probability that a feature is on, between 0 and 1.")
@click.option("--l0", type=REAL, metavar="L0", help="In its place: how many features are on, in the mean.")
@click.option("--firing", type=click.Path(), metavar="FILE", help="In its place: one vector, how often each is on.")
@click.option("--features", type=click.Path(), metavar="FILE", help="In its place: vectors of features or latents.")
@click.option(
    "--x",
    type=click.Path(),
    metavar="FILE",
    help="In its place: inputs of the model; as --features, .npy or .safetensors, a row each.",
)
@click.option("--strength", type=REAL, metavar="X", help="Mean of one that is on; by default 0.5, or the vectors'.")
@click.option("--importance", metavar="0.9^i|FILE", help="Weight of each feature's squared error.")
@click.option("--loss", "loss_as", type=click.Choice(["mean", "sum"]), help="Loss in units of your features, so added.")
@click.option("--instance", type=WHOLE, metavar="N", help="Which of several models, from 0; by default the first.")
@click.option("--reading", type=click.Choice(["product", "tied", "toy", "sae"]),
              help="What a square W is, by default the product; what an encoder and decoder are.")  # fmt: skip
@click.option("--b-dec", type=click.Choice(["taken", "kept"]),
              help="Whether b_dec is taken off before the encoder, where a file cannot say.")  # fmt: skip
@click.option("--activation", type=click.Choice(["relu", "topk", "jumprelu"]),
              help="Which latents pass, where a file cannot say.")  # fmt: skip
@click.option("--k", type=WHOLE, metavar="K", help="How many latents of TopK pass, where a file cannot say.")
@click.option("--ignore", multiple=True, metavar="NAME",
              help="An array or setting without a part in the forward pass; may be repeated.")  # fmt: skip
@click.option("--figure", type=click.Path(), metavar="PATH", help="Where to draw it: .svg, .png or .pdf.")
@click.option(
    "--samples", type=WHOLE, metavar="N", help="Feature vectors to simulate; by default a few seconds of them."
)
@click.option("--seed", type=WHOLE, default=0, show_default=True, help="Seed of the feature vectors.")
def diagnose(file, firing, figure, **options):
    """Measure the autoencoder in FILE: what it is, what it loses, and how far it is from the best.

    FILE is .safetensors, .npz or .pt, or the folder of a sparse autoencoder. It holds W_in, W_out and b;
    or encoder.weight, decoder.weight and their biases; or W_enc, W_dec, b_enc and b_dec; or W, tied or the product,
    with b or b_final.
    """
    with refusals():
        from superposition.diagnosis import autoencoder

        path = None if figure is None else drawable(figure)
        if firing is not None:
            options["p"] = _density(firing, options["p"])
        with bar("diagnosis", "step", delay=2) as progress:
            found = autoencoder.diagnose(file, progress=progress, **options)
        say(found)
        if path is not None:
            from superposition.diagnosis import picture

            picture.draw(found, title=os.path.basename(os.path.normpath(file))).savefig(path, dpi=150)
            say(f"drew {path}")


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...")
@click.option("--l0", type=REAL, metavar="L0", help="How many latents are on, of the files that do not say it.")
@click.option("--table", type=click.Path(), required=True, metavar="PATH", help="Where to write the table, as CSV.")
@click.option("--figure", type=click.Path(), metavar="PATH", help="Where to draw it: .svg, .png or .pdf.")
def survey(folders, l0, table, figure):
    """Measure every file of weights in the FOLDERs: one table, and one figure that places all of them.

    A file that is refused has a row with the reason.
    """
    with refusals():
        from superposition.diagnosis import survey as surveying

        path = None if figure is None else drawable(figure)
        table = writable("table", table)
        with bar("survey", "file", delay=2) as progress:
            rows = surveying.survey_files(list(folders), l0, progress=progress)
        surveying.write(rows, table)
        refused = sum(bool(row["refused"]) for row in rows)
        say(f"wrote {table}: {len(rows) - refused} files, and {refused} that were refused")
        if path is not None:
            surveying.draw(rows).savefig(path, dpi=150)
            say(f"drew {path}")


def _density(path, p):
    """How often each feature is on, from a file, unless the command already gives it."""
    from superposition.diagnosis import files

    if p is not None:
        raise ValueError("--p and --firing exclude each other: either says how often features are on")
    return files.firing(path)
