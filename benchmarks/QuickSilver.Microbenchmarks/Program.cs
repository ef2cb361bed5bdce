using BenchmarkDotNet.Running;
using QuickSilver.Microbenchmarks.GarbageCollection;

// `--list flat` names the benchmarks, `--filter '*Alarm*'` runs some; `gc` is one over whole processes (docs/gc.md).
if (args is ["gc", "send" or "receive", _])
{
    await GcTrial.RunAsync(args[1], args[2]);
}
else
{
    BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly).Run(args);
}
