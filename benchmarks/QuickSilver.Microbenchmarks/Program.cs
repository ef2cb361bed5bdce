using BenchmarkDotNet.Running;

// `--list flat` names the benchmarks, `--filter '*Alarm*'` runs some.
BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly).Run(args);
