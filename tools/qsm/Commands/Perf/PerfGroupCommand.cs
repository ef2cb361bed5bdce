using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using QuickSilver.Groups;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Perf.Senders;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Perf;

// One member of a group that is measured. The same command runs once for each member, and all begin when all are there. Without an order,
// the members use a reliable topic in place of the group, for comparison.
internal static class PerfGroupCommand
{
    private static readonly TimeSpan IdleLimit = TimeSpan.FromSeconds(60);

    public static Command Create()
    {
        var common = new CommonOptions();
        var name = PerfCommand.Topic();
        var members = new Option<int>("--members")
        {
            Description = "The number of members, each of which runs this command.",
            HelpName = "N",
            DefaultValueFactory = _ => 3,
        }.Within(1, 1000);
        var senders = new Option<int>("--senders")
        {
            Description = "The number of members that send: those that run with --send.",
            HelpName = "N",
            DefaultValueFactory = _ => 1,
        }.Within(1, 1000);
        var send = new Option<bool>("--send") { Description = "Send, and not only receive." };
        var order = new Option<GroupOrder?>("--order")
        {
            Description = "The order of the messages. Without it, a reliable topic is measured.",
            HelpName = "ORDER",
        }.Named();
        var size = new Option<int>("--size")
        {
            Description = "The size of a payload in bytes.",
            HelpName = "BYTES",
            DefaultValueFactory = _ => 1000,
        }.Within(GroupStampCodec.LeastBytes, PerfMessage.MaxBytes);
        var seconds = PerfCommand.Seconds();
        var warmUp = new Option<double>("--warm-up")
        {
            Description = "The time to send before measuring.",
            HelpName = "S",
            DefaultValueFactory = _ => 3,
        }.Within(0, 86_400);
        var rate = PerfCommand.Rate("Messages per second of this member. By default, as many as flow control allows.");
        var command = common.AddTo(new Command(
            "group",
            "Be a member of a group that is measured: run it once for each member. Prints the messages that this member got per second, "
            + "their latency in microseconds, and a hash of their order. Members of one machine measure the latency by one clock.")
        {
            name, members, senders, send, order, size, seconds, warmUp, rate,
        });
        command.SetAction(parse =>
        {
            var plan = new Plan(
                parse.GetValue(name)!, parse.GetValue(members), parse.GetValue(senders), parse.GetValue(send), parse.GetValue(order),
                parse.GetValue(size), parse.GetValue(seconds), parse.GetValue(warmUp), parse.GetValue(rate));
            return Session.RunAsync(
                parse, common, session => plan.Order is null ? RunTopicAsync(session, plan) : RunGroupAsync(session, plan));
        });
        return command;
    }

    private static async Task<int> RunGroupAsync(Session session, Plan plan)
    {
        var tally = new GroupTally(plan.Senders, plan.WarmUp);
        var complete = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var node = await session.StartNodeAsync();
        var options = new GroupOptions<GroupStamp> { Order = plan.Order!.Value, Codec = new GroupStampCodec(plan.Size) };
        await using var group = await node.OpenGroupAsync<GroupStamp>(plan.Name, options, session.Interrupted);
        group.SubscribeInline(Handle);
        await complete.Task.WaitAsync(session.Interrupted);
        return await MeasureAsync(session, plan, tally, stamp => group.SendAsync(stamp, CancellationToken.None));

        void Handle(in GroupEvent<GroupStamp> one)
        {
            if (one.TryGetMessage(out var stamp))
            {
                tally.Take(one.Sender, stamp);
            }
            else if (one.View.Members.Count == plan.Members)
            {
                complete.TrySetResult();
            }
        }
    }

    private static async Task<int> RunTopicAsync(Session session, Plan plan)
    {
        var tally = new GroupTally(plan.Senders, plan.WarmUp);
        await using var node = await session.StartNodeAsync();
        var options = new TopicOptions<GroupStamp> { Codec = new GroupStampCodec(plan.Size) };
        await using var topic = await node.OpenTopicAsync<GroupStamp>(plan.Name, options, session.Interrupted);
        topic.SubscribeInline((in Message<GroupStamp> message) => tally.Take(message.Sender, message.Value));
        await topic.WaitForSubscribersAsync(plan.Members, session.Interrupted);
        return await MeasureAsync(session, plan, tally, stamp => topic.PublishAsync(stamp, CancellationToken.None));
    }

    private static async Task<int> MeasureAsync(Session session, Plan plan, GroupTally tally, Func<GroupStamp, ValueTask> send)
    {
        if (plan.Sends)
        {
            await Task.Run(() => SendAsync(plan, send, session.Interrupted), session.Interrupted);
        }

        await tally.Done.Task.WaitAsync(IdleLimit + TimeSpan.FromSeconds(plan.Seconds + plan.WarmUp), session.Interrupted);
        double cpu = tally.CpuMicros;
        var latency = Percentiles.Of(tally.Latency);
        Console.Out.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{{\"order\":\"{plan.Order?.ToString() ?? "Topic"}\",\"delivered\":{tally.Delivered},\"seconds\":{tally.Seconds:F2},"
            + $"\"messagesPerSecond\":{tally.Delivered / Math.Max(tally.Seconds, 0.001):F0},\"cpuMicrosPerMessage\":{cpu:F2},"
            + $"\"latencyMicros\":{{\"p50\":{latency.P50},"
            + $"\"p99\":{latency.P99},\"max\":{latency.Max}}},\"orderHash\":\"{tally.Order:x16}\"}}"));
        // The others may still need what this member has.
        await Task.Delay(TimeSpan.FromSeconds(1), session.Interrupted);
        return ExitCode.Ok;
    }

    private static async Task SendAsync(Plan plan, Func<GroupStamp, ValueTask> send, CancellationToken stop)
    {
        var pace = plan.Rate is { } rate ? new Pace(rate) : null;
        long end = Stopwatch.GetTimestamp() + (long)((plan.WarmUp + plan.Seconds) * Stopwatch.Frequency);
        long number = 0;
        while (!stop.IsCancellationRequested)
        {
            pace?.WaitFor(number);
            long now = Stopwatch.GetTimestamp();
            bool isLast = now >= end;
            await send(new GroupStamp(now, ++number, isLast));
            if (isLast)
            {
                return;
            }
        }
    }

    private sealed record Plan(
        string Name, int Members, int Senders, bool Sends, GroupOrder? Order, int Size, double Seconds, double WarmUp, double? Rate);
}
