using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers.Deliveries;

// I3: each delivered message was published by that incarnation of that node, in that topic, with that number and those bytes, and the
// subscription is of that topic. A sender may learn the number of its message only after its own node has received the message, so an
// unknown message is checked when the clock has advanced.
internal sealed class NoPhantomChecker : HistoryChecker
{
    private readonly Dictionary<MessageId, ulong> _published = [];
    private readonly List<Delivered> _unknown = [];

    public override string Invariant => "I3";

    public override void On(in Published published)
    {
        JudgeUnknown(before: published.At);
        if (!_published.TryAdd(published.Message, published.PayloadHash))
        {
            Violate(published.At, $"{published.Message} was published twice: two messages have the same number.");
        }
    }

    public override void On(in Delivered delivered)
    {
        JudgeUnknown(before: delivered.At);
        if (delivered.Subscription.Topic != delivered.Message.Topic)
        {
            Violate(
                delivered.At,
                $"{delivered.Subscription} is of topic {delivered.Subscription.Topic:x16}, but received {delivered.Message}.");
        }

        if (_published.ContainsKey(delivered.Message))
        {
            Judge(delivered);
        }
        else
        {
            _unknown.Add(delivered);
        }
    }

    public override void OnEnd() => JudgeUnknown(before: TimeSpan.MaxValue);

    private void JudgeUnknown(TimeSpan before)
    {
        if (_unknown.Count == 0 || _unknown[0].At >= before)
        {
            return;
        }

        var judged = _unknown.ToArray();
        _unknown.Clear();
        foreach (var delivered in judged)
        {
            Judge(delivered);
        }
    }

    private void Judge(in Delivered delivered)
    {
        if (!_published.TryGetValue(delivered.Message, out ulong hash))
        {
            Violate(delivered.At, $"{delivered.Subscription} received {delivered.Message}, which was never published.");
        }
        else if (hash != delivered.PayloadHash)
        {
            string differs = $"with other bytes ({delivered.PayloadHash:x16}) than those published ({hash:x16})";
            Violate(delivered.At, $"{delivered.Subscription} received {delivered.Message} {differs}.");
        }
    }
}
