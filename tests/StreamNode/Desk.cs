using System.Buffers.Binary;
using System.Diagnostics;
using System.Globalization;
using QuickSilver;
using QuickSilver.Tests.Infrastructure;

namespace StreamNode;

// Carries out the commands. Each message begins with its number within its sender's topic, from 1.
internal sealed class Desk(QuickSilverNode node, ChangingRights rights)
{
    private static readonly TimeSpan DrainLimit = TimeSpan.FromMinutes(1);

    private readonly Dictionary<string, (ITopicPublisher<ReadOnlyMemory<byte>> Topic, long[] Sent)> _publishing = [];
    private readonly Dictionary<string, Intake> _taking = [];
    private readonly Dictionary<string, IRequester<string, string>> _asking = [];
    private readonly Dictionary<string, IState<string, string>> _holding = [];
    private readonly Dictionary<string, GroupDesk> _groups = [];
    private readonly List<Task> _running = [];
    private volatile bool _isHalted;

    public async Task DoAsync(string[] words)
    {
        switch (words)
        {
            case ["subscribe", var name, var guarantee, var how]:
                var subscribing = new TopicOptions { Guarantee = Of(guarantee) };
                var taken = await node.OpenSubscriberAsync<ReadOnlyMemory<byte>>(name, subscribing);
                _taking[name] = new Intake(taken, withReader: how == "reader", isLate: how == "late");
                Say.Line($"subscribed {name}");
                break;
            case ["open", var name, var guarantee, var subscribers]:
                var publishing = new TopicOptions { Guarantee = Of(guarantee) };
                var topic = await node.OpenPublisherAsync<ReadOnlyMemory<byte>>(name, publishing);
                await topic.WaitForSubscribersAsync((int)Number(subscribers));
                _publishing[name] = (topic, new long[1]);
                Say.Line($"open {name}");
                break;
            case ["publish", var name, var count, var bytes]:
                _running.Add(Task.Run(() => PublishAsync(name, Number(count), TimeSpan.MaxValue, (int)Number(bytes))));
                break;
            case ["pace", var name, var seconds, var bytes, var rate]:
                _running.Add(Task.Run(() => PaceAsync(name, TimeSpan.FromSeconds(Number(seconds)), (int)Number(bytes), Number(rate))));
                break;
            case ["admit"]:
                rights.AdmitsAll = true;
                Say.Line("admits");
                break;
            case ["halt"]:
                _isHalted = true;
                break;
            case ["flood", var name, var seconds, var bytes]:
                _running.Add(Task.Run(() =>
                    PublishAsync(name, long.MaxValue, TimeSpan.FromSeconds(Number(seconds)), (int)Number(bytes))));
                break;
            case ["expect", var name, var senders, var count]:
                _taking[name].Expect((int)Number(senders), Number(count));
                break;
            case ["read", var name]:
                _taking[name].ReadOn();
                break;
            case ["respond", var name, var millis]:
                var wait = TimeSpan.FromMilliseconds(Number(millis));
                await node.OpenResponderAsync<string, string>(name, async (request, stop) =>
                {
                    await Task.Delay(wait, stop);
                    return request.Value;
                });
                Say.Line($"responds {name}");
                break;
            case ["ask", var name, var millis]:
                if (!_asking.TryGetValue(name, out var requester))
                {
                    _asking[name] = requester = await node.OpenRequesterAsync<string, string>(name);
                    await requester.WaitForRespondersAsync(1);
                }

                _running.Add(AskAsync(requester, TimeSpan.FromMilliseconds(Number(millis))));
                Say.Line($"asked {name}");
                break;
            case ["hold", var name]:
                _holding[name] = await node.OpenStateAsync<string, string>(name);
                Say.Line($"holds {name}");
                break;
            case ["set", var name, var key, var value]:
                await _holding[name].SetAsync(key, value);
                Say.Line($"sets {name}");
                break;
            case ["join", var name, var file, var seed]:
                _groups[name] = await GroupDesk.JoinAsync(node, name, file, (int)Number(seed));
                break;
            case ["send", var name, var count, var least, var most]:
                _running.Add(_groups[name].SendAsync(Number(count), (int)Number(least), (int)Number(most)));
                break;
            case ["await", var name, var senders, var number]:
                _groups[name].Expect((int)Number(senders), Number(number));
                break;
            case ["pause", var name]:
                Say.Line($"pause {name} {_taking[name].TakeLongestPause().TotalMilliseconds:0}");
                break;
            case ["taken", var name]:
                Say.Line($"taken {name} {_taking[name].Delivered}");
                break;
            case ["members"]:
                Say.Line($"members {node.Status.Members}");
                break;
            case ["meter", var name]:
                Say.Line($"meter {name} {Meters.Read(name)}");
                break;
            case ["collect"]:
                long start = Stopwatch.GetTimestamp();
                GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: true, compacting: true);
                Say.Line($"collected {Stopwatch.GetElapsedTime(start).TotalMilliseconds:0}");
                break;
            case ["heap"]:
                Say.Line($"heap {GC.GetTotalMemory(forceFullCollection: true)}");
                break;
            case ["count"]:
                string[] counts = ["shared.sent", "shared.saved", "shared.received", "repairs"];
                Say.Line($"counts {string.Join(' ', counts.Select(static name => Meters.ReadNumber($"quicksilver.{name}")))}");
                break;
            default:
                throw new ArgumentException($"'{string.Join(' ', words)}' is no command.");
        }
    }

    /// <summary>False when anything was wrong.</summary>
    public async Task<bool> EndAsync()
    {
        await Task.WhenAll(_running);
        bool isRight = await DrainWithin.LimitAsync(DrainLimit, node.DrainAsync);
        var faults = _taking.Select(static one => (one.Key, one.Value.Fault))
            .Concat(_groups.Select(static one => (one.Key, one.Value.Fault)));
        foreach (var (name, fault) in faults.Where(static one => one.Fault is not null))
        {
            Say.Line($"fault {name}: {fault}");
            isRight = false;
        }

        foreach (var group in _groups.Values)
        {
            group.Dispose();
        }

        return isRight;
    }

    private static async Task AskAsync(IRequester<string, string> requester, TimeSpan timeout)
    {
        try
        {
            await requester.AskAsync("x", timeout);
            Say.Line($"answered {requester.Name}");
        }
        catch (RequestException exception)
        {
            Say.Line($"failed {requester.Name} {exception.GetType().Name}");
        }
    }

    private async Task PublishAsync(string name, long count, TimeSpan time, int bytes)
    {
        var (topic, sent) = _publishing[name];
        byte[] payload = new byte[bytes];
        long start = Stopwatch.GetTimestamp();
        for (long i = 0; i < count && Stopwatch.GetElapsedTime(start) < time && !_isHalted; i++)
        {
            BinaryPrimitives.WriteInt64LittleEndian(payload, ++sent[0]);
            await topic.PublishAsync(payload);
        }

        Say.Line($"published {name} {sent[0]}");
    }

    // Steady: what is late is sent at once, in groups of what a millisecond has.
    private async Task PaceAsync(string name, TimeSpan time, int bytes, long rate)
    {
        var (topic, sent) = _publishing[name];
        byte[] payload = new byte[bytes];
        long start = Stopwatch.GetTimestamp();
        long done = 0;
        for (TimeSpan elapsed; (elapsed = Stopwatch.GetElapsedTime(start)) < time && !_isHalted;)
        {
            for (long due = (long)(elapsed.TotalSeconds * rate); done < due && !_isHalted; done++)
            {
                BinaryPrimitives.WriteInt64LittleEndian(payload, ++sent[0]);
                await topic.PublishAsync(payload);
            }

            await Task.Delay(1);
        }

        Say.Line($"published {name} {sent[0]}");
    }

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);

    private static Guarantee Of(string text) => text == "besteffort" ? Guarantee.BestEffort : Guarantee.Reliable;
}
