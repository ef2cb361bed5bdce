using System.Globalization;
using System.Runtime.InteropServices;
using FlightBoard.Board;
using FlightBoard.Roles;

const double DefaultReplaySeconds = 12;
const string Usage = "FlightBoard [--seconds S]: replays 6,000 departures to three subscribers in S seconds (1 to 40; 12 by default).";

switch (args)
{
    case ["publisher", var cluster, var seconds]:
        return await Publisher.RunAsync(cluster, TimeSpan.FromSeconds(double.Parse(seconds, CultureInfo.InvariantCulture)));
    case ["subscriber", var cluster, var area]:
        return await Subscriber.RunAsync(cluster, area);
    case []:
        return await RunBoardAsync(DefaultReplaySeconds);
    case ["--seconds", var text]
        when double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double replay) && replay is >= 1 and <= 40:
        return await RunBoardAsync(replay);
    case ["--help" or "-h" or "-?"]:
        Console.Out.WriteLine(Usage);
        return 0;
    default:
        Console.Error.WriteLine(Usage);
        return 2;
}

static async Task<int> RunBoardAsync(double seconds)
{
    using var interrupted = new CancellationTokenSource();
    void OnSignal(PosixSignalContext context)
    {
        context.Cancel = true;
        interrupted.Cancel();
    }

    using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal);
    using var terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal);
    try
    {
        return await BoardRun.RunAsync(TimeSpan.FromSeconds(seconds), interrupted.Token);
    }
    catch (OperationCanceledException) when (interrupted.IsCancellationRequested)
    {
        return 130;
    }
}
