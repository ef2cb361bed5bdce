using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Checkers;

// I11: of what a publisher was told that it is stable nothing is lost: every subscriber that was in the view it was sent in and stays up
// is given it, also where its sender, or all others, are gone since. Two that parted when the service changed owe each other nothing
// from before; and in a topic of best effort what is stable was sent, and may have been lost.
internal sealed class StableChecker : DeliveryChecker
{
    private readonly Partings _partings = new();
    private readonly Dictionary<(NodeKey Sender, ulong Topic), NumberRanges> _stable = [];

    public override string Invariant => "I11";

    public override void On(in Configured configured) => _partings.On(configured);

    public override void On(in ToldStable stable)
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
                    Violate(Last, $"{listener.Subscription} never got {message}, which its publisher was told is stable{fate}.");
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
