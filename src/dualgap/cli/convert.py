"""``dualgap convert``: to memory-mapped arrays."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from dualgap.cli.load import ZERO_BASED
from dualgap.cli.show import print_json, reading
from dualgap.files.datasets import is_table, read_data
from dualgap.files.mapped import convert_svmlight, save_mapped


def run(args: Any) -> int:
    started = time.perf_counter()
    dtype = np.float32 if args.single else np.float64
    if is_table(args.data) or args.data.endswith(".npz") or os.path.isdir(args.data):
        data = read_data(args.data, label=args.label)
        X = data.X.to_scipy() if hasattr(data.X, "to_scipy") else data.X
        y = data.y if data.y is not None else np.zeros(X.shape[0])
        header = save_mapped(args.folder, X.astype(dtype, copy=False), y, data.names)
    else:
        source: Any = 0 if args.data == "-" else args.data
        with reading(args.data, args.quiet) as progress:
            header = convert_svmlight(
                source,
                args.folder,
                dtype=dtype,
                zero_based=ZERO_BASED[args.zero_based],
                n_threads=args.threads,
                progress=progress,
            )
    size = sum(entry.stat().st_size for entry in os.scandir(args.folder))
    seconds = time.perf_counter() - started
    if args.json:
        print_json({**header, "folder": args.folder, "bytes": size, "seconds": seconds})
    elif not args.quiet:
        shape = f"{header['rows']:,} rows, {header['columns']:,} columns"
        print(f"{args.folder}: {shape}, {size / 1e6:,.1f} MB, written in {seconds:.2f} s")
    return 0
