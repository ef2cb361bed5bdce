namespace QuickSilver.Simulation.Checkers;

// I3: what is delivered was published by that life of that node, in that topic, under that number, with those bytes, and
// goes to a subscription of that topic. A sender may learn its message's number only after its own node was given the
// message, so an unknown one is judged when the clock has moved on.
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
            Violate(published.At, $"{published.Message} was published twice: a number was given to two messages.");
        }
    }

    public override void On(in Delivered delivered)
    {
        JudgeUnknown(before: delivered.At);
        if (delivered.Subscription.Topic != delivered.Message.Topic)
        {
            Violate(
                delivered.At,
                $"{delivered.Subscription} is of topic {delivered.Subscription.Topic:x16}, but was given {delivered.Message}.");
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
            Violate(delivered.At, $"{delivered.Subscription} was given {delivered.Message}, which was never published.");
        }
        else if (hash != delivered.PayloadHash)
        {
            string differs = $"with other bytes ({delivered.PayloadHash:x16}) than were published ({hash:x16})";
            Violate(delivered.At, $"{delivered.Subscription} was given {delivered.Message} {differs}.");
        }
    }
}
