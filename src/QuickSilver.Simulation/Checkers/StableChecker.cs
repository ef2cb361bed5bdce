using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Deliveries;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers;

// I11: no message is lost after its publisher was notified that it is stable. Every subscriber that was in the view of the message and
// stays up receives it, even if its sender, or all other members, are gone since. Two nodes that were separated when the service changed
// owe each other nothing from before. In a best-effort topic, a stable message was sent, and may have been lost.
internal sealed class StableChecker : DeliveryChecker
{
    private readonly Partings _partings = new();
    private readonly Dictionary<(NodeKey Sender, ulong Topic), NumberRanges> _stable = [];

    public override string Invariant => "I11";

    public override void On(in Configured configured) => _partings.On(configured);

    public override void On(in StableReported stable)
    {
        var key = (stable.Message.Sender, stable.Message.Topic);
        if (!_stable.TryGetValue(key, out var numbers))
        {
            _stable[key] = numbers = new NumberRanges();
        }

        numbers.Add(stable.Message.Sequence);
    }

    public override void OnEnd()
    {
        foreach (var listener in Open)
        {
            foreach (var log in IsBestEffort(listener.Subscription.Topic) ? [] : LogsOf(listener.Subscription.Topic))
            {
                if (_stable.TryGetValue((log.Sender, log.Topic), out var stable) && FirstLacking(log, stable, listener) is var number
                    && number > 0)
                {
                    var message = new MessageId(log.Sender, log.Topic, number);
                    string fate = log.HasStopped ? "; its sender is gone since" : "";
                    string promise = "although its publisher was notified that it is stable";
                    Violate(Last, $"{listener.Subscription} did not receive {message}, {promise}{fate}.");
                }
            }
        }
    }

    private long FirstLacking(SenderLog log, NumberRanges stable, Listener listener)
    {
        var given = listener.Of(log.Sender);
        foreach (var run in log.Runs)
        {
            if (listener.Among(run.Views) is not { } view || _partings.HaveParted(log.Sender, run.Begun, listener.Life, view))
            {
                continue;
            }

            for (long number = run.FirstSince(listener.Since); number <= run.Last; number++)
            {
                // Not missing from what is stable, and missing from what was given.
                if (stable.FirstMissing(number) > number && given.FirstMissing(number) == number)
                {
                    return number;
                }
            }
        }

        return 0;
    }
}
