using BenchmarkDotNet.Running;
using QuickSilver.Microbenchmarks.DataPath;
using QuickSilver.Microbenchmarks.GarbageCollection;
using QuickSilver.Microbenchmarks.Memory;
using QuickSilver.Microbenchmarks.Regions;
using QuickSilver.Microbenchmarks.Sealing;
using QuickSilver.Microbenchmarks.Storage;

// `--list flat` names the benchmarks, `--filter '*Alarm*'` runs some; `receive` alone shows quickly what a received message
// costs; `seal` what encryption adds to a packet, beside openssl; `gc` is a trial over whole processes (docs/gc.md); `topics` weighs idle
// topics, and `idle` an idle node (docs/memory.md), with `burst` also after a burst. `sync DIRECTORY` shows
// what a durable append waits for on that disk (docs/decisions/disk-door.md).
if (args is ["gc", "send" or "receive", _])
{
    await GcTrial.RunAsync(args[1], args[2]);
}
else if (args is ["receive"])
{
    ReceiveReport.Run();
}
else if (args is ["topics"])
{
    await IdleTopics.RunAsync();
}
else if (args is ["idle"] or ["idle", "burst"])
{
    await IdleNode.RunAsync(withBurst: args.Length > 1);
}
else if (args is ["seal", ..])
{
    SealReport.Run(args[1..]);
}
else if (args is ["regions", ..])
{
    RegionReport.Run(args[1..]);
}
else if (args is ["sync", var directory])
{
    SyncReport.Run(directory);
}
else
{
    BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly).Run(args);
}
