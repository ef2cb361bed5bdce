using BenchmarkDotNet.Running;
using QuickSilver.Microbenchmarks.DataPath;

// `--list flat` names the benchmarks, `--filter '*Alarm*'` runs some; `receive` alone tells quickly what a received message costs.
if (args is ["receive"])
{
    ReceiveReport.Run();
}
else
{
    BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly).Run(args);
}
