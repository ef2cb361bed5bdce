using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Threading.Channels;
using QuickSilver.Groups;

namespace QuickSilver.GroupFlush;

// A member that does what its input says: "join", "rate N" (messages a second; 0: none, -1: as many as go), "leave". It writes "joining
// TICKS", "joined", "leaving TICKS", "got COUNT TICKS" when asked with "count", and "view NUMBER MEMBERS TICKS" with each view.
internal static class Member
{
    private static readonly Channel<string> Lines = Channel.CreateUnbounded<string>();

    private static long _got;
    private static double _rate;

    public static async Task<int> RunAsync(string service, int bytes)
    {
        var options = new QuickSilverOptions { Interface = IPAddress.Loopback, Security = SecurityOptions.None };
        options.Membership.Servers = [service];
        using var logs = new NodeLog();
        await using var node = await QuickSilverNode.StartAsync(options, logs);
        var writing = Task.Run(WriteAsync);
        Say("ready");
        IGroup<ReadOnlyMemory<byte>>? group = null;
        var sending = Task.CompletedTask;
        while (await Console.In.ReadLineAsync() is { } line)
        {
            switch (line.Split(' '))
            {
                case ["join"]:
                    Say($"joining {Now()}");
                    var joined = group = await node.OpenGroupAsync<ReadOnlyMemory<byte>>("flush");
                    group.SubscribeInline(Take);
                    Say("joined");
                    sending = Task.Run(() => SendAsync(joined, bytes));
                    break;
                case ["rate", var rate]:
                    Volatile.Write(ref _rate, double.Parse(rate, CultureInfo.InvariantCulture));
                    break;
                case ["count"]:
                    Say($"got {Volatile.Read(ref _got)} {Now()}");
                    break;
                case ["leave"]:
                    Say($"leaving {Now()}");
                    await group!.DisposeAsync();
                    await sending;
                    Say("left");
                    break;
            }
        }

        Lines.Writer.Complete();
        await writing;
        return 0;
    }

    private static void Take(in GroupEvent<ReadOnlyMemory<byte>> one)
    {
        if (one.IsView)
        {
            Say($"view {one.View.Number} {one.View.Members.Count} {Now()}");
        }
        else
        {
            _got++;
        }
    }

    // What is late is sent at once.
    private static async Task SendAsync(IGroup<ReadOnlyMemory<byte>> group, int bytes)
    {
        byte[] payload = new byte[bytes];
        double due = 0;
        long before = Stopwatch.GetTimestamp();
        try
        {
            while (true)
            {
                double rate = Volatile.Read(ref _rate);
                long now = Stopwatch.GetTimestamp();
                due = rate <= 0 ? 0 : due + (rate * Stopwatch.GetElapsedTime(before, now).TotalSeconds);
                before = now;
                for (; due >= 1; due--)
                {
                    await group.SendAsync(payload);
                }

                if (rate < 0)
                {
                    await group.SendAsync(payload);
                }
                else
                {
                    await Task.Delay(1);
                }
            }
        }
        catch (ObjectDisposedException)
        {
        }
    }

    private static string Now() => Stopwatch.GetTimestamp().ToString(CultureInfo.InvariantCulture);

    private static void Say(string line) => Lines.Writer.TryWrite(line);

    private static async Task WriteAsync()
    {
        await foreach (string line in Lines.Reader.ReadAllAsync())
        {
            await Console.Out.WriteLineAsync(line);
            await Console.Out.FlushAsync();
        }
    }
}
