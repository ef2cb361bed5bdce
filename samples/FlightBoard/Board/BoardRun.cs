using System.Diagnostics;
using System.Globalization;
using FlightBoard.Roles;

namespace FlightBoard.Board;

// The whole sample: three subscribers, then the publisher, each a process; shows them, and judges what they say at the end.
internal static class BoardRun
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(50);
    private static readonly TimeSpan LastWordLimit = TimeSpan.FromSeconds(5);
    // After the last departure: whatever should not come any more had time to come.
    private static readonly TimeSpan Aftermath = TimeSpan.FromMilliseconds(500);

    public static async Task<int> RunAsync(TimeSpan replay, CancellationToken stop)
    {
        long start = Stopwatch.GetTimestamp();
        bool IsLate() => Stopwatch.GetElapsedTime(start) > Limit;

        // A name of its own, so that runs beside each other never meet.
        string cluster = $"flightboard-{Guid.NewGuid():N}"[..28];
        var processes = new List<RoleProcess>();
        try
        {
            foreach (string area in Areas.Names)
            {
                processes.Add(new RoleProcess(area, "subscriber", cluster, area));
            }

            Console.Out.WriteLine($"Cluster {cluster}: starting {processes.Count} subscribers and a publisher on the loopback interface.");
            while (!processes.TrueForAll(process => process.Status.Phase != Phase.Starting) && !AnyFault(processes) && !IsLate())
            {
                await Task.Delay(20, stop);
            }

            string seconds = replay.TotalSeconds.ToString(CultureInfo.InvariantCulture);
            processes.Insert(0, new RoleProcess("publisher", "publisher", cluster, seconds));
            var display = new Display(processes);
            await display.ShowAsync(
                () => processes.TrueForAll(process => process.Status.Phase == Phase.Done) || AnyFault(processes) || IsLate(), stop);
            await Task.Delay(Aftermath, stop);
            bool isRight = await EndAsync(processes);
            display.Summarize();
            Console.Out.WriteLine(string.Create(
                CultureInfo.InvariantCulture, $"{Verdict(isRight)} ({Stopwatch.GetElapsedTime(start).TotalSeconds:F1} s)"));
            return isRight ? 0 : 1;
        }
        finally
        {
            processes.ForEach(process => process.Dispose());
        }
    }

    private static bool AnyFault(List<RoleProcess> processes) =>
        processes.Exists(process => process.Status.Fault is not null || process.HasExited);

    private static string Verdict(bool isRight) => isRight
        ? "Every subscriber received every departure of its airports once and in order."
        : "FAILED: not every subscriber received every departure of its airports once and in order.";

    private static async Task<bool> EndAsync(List<RoleProcess> processes)
    {
        processes.ForEach(process => process.AskToStop());
        int?[] codes = await Task.WhenAll(processes.Select(process => process.WaitForExitAsync(LastWordLimit)));
        foreach (var (process, code) in processes.Zip(codes))
        {
            if (code != 0)
            {
                Console.Error.WriteLine(
                    $"{process.Name}: {process.Status.Fault ?? $"{process.Status.Count} of {process.Status.Expected}"}; "
                    + (code is null ? "did not end in time" : $"exit code {code}"));
                foreach (string line in process.Log)
                {
                    Console.Error.WriteLine($"  {line}");
                }
            }
        }

        return Array.TrueForAll(codes, code => code == 0);
    }
}
