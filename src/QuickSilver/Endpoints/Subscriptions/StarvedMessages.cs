using System.Runtime.InteropServices;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Endpoints.Subscriptions;

// The messages of one topic for which there was no memory: at most one for each sender, because the next one waits behind it.
internal sealed class StarvedMessages
{
    private readonly List<Starved> _all = [];

    public int Count => _all.Count;

    /// <summary>Takes the memory for one more.</summary>
    public void Reserve() => _all.EnsureCapacity(_all.Count + 1);

    /// <summary>Counts an attempt of a codec, and returns how many there were.</summary>
    public int CountAttempt(in DeliveredMessage message) => ++Entry(message).Attempts;

    /// <summary>The subscribers before this one have had the message.</summary>
    public void NoteHad(in DeliveredMessage message, TopicEndpoint[] subscribers, int before)
    {
        ref var entry = ref Entry(message);
        if (entry.Subscribers is null || before >= entry.Before)
        {
            (entry.Subscribers, entry.Before) = (subscribers, before);
        }
    }

    /// <summary>The message is counted as delivered, although it comes again.</summary>
    public void NoteCounted(in DeliveredMessage message) => Entry(message).IsCounted = true;

    public bool IsCounted(in DeliveredMessage message)
    {
        int at = Find(message);
        return at >= 0 && _all[at].IsCounted;
    }

    public bool HasHad(TopicEndpoint endpoint, in DeliveredMessage message)
    {
        int at = Find(message);
        return at >= 0 && _all[at] is { Subscribers: { } subscribers } entry
            && Array.IndexOf(subscribers, endpoint, 0, entry.Before) >= 0;
    }

    public void Remove(in DeliveredMessage message)
    {
        int at = Find(message);
        if (at >= 0)
        {
            _all.RemoveAt(at);
        }
    }

    // The place was reserved before.
    private ref Starved Entry(in DeliveredMessage message)
    {
        int at = Find(message);
        if (at < 0)
        {
            // What this sender left behind is over: it was given up.
            var sender = message.Sender;
            at = _all.FindIndex(one => one.Sender == sender);
            var entry = new Starved { Sender = sender, Sequence = message.Sequence };
            if (at < 0)
            {
                at = _all.Count;
                _all.Add(entry);
            }
            else
            {
                _all[at] = entry;
            }
        }

        return ref CollectionsMarshal.AsSpan(_all)[at];
    }

    private int Find(in DeliveredMessage message)
    {
        for (int i = 0; i < _all.Count; i++)
        {
            if (_all[i].Sequence == message.Sequence && _all[i].Sender == message.Sender)
            {
                return i;
            }
        }

        return -1;
    }

    private struct Starved
    {
        public NodeKey Sender;
        public long Sequence;
        public TopicEndpoint[]? Subscribers;
        public int Before;
        public int Attempts;
        public bool IsCounted;
    }
}
