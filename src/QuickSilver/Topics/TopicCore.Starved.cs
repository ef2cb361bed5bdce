using QuickSilver.Endpoints;
using QuickSilver.Endpoints.Subscriptions;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Topics;

// How a message goes to the endpoints. One for which the heap has no memory counts as refused by a full reader, and comes again. An
// endpoint that has had such a message does not get it again with the others.
internal sealed partial class TopicCore
{
    // Some seconds, as the pauses between two attempts double.
    private const int MostAttempts = 8;

    // More than a codec has reason to take at once.
    private const long LeastRoom = 32 << 20;
    private const int TimesPayload = 8;

    private StarvedMessages Starved => MishapsOrNew.Starved ??= new StarvedMessages();

    public bool TryAccept(in DeliveredMessage message)
    {
        // Either all endpoints take the message or none does: an endpoint that took it must not get it again because another had no room.
        foreach (var endpoint in _subscribers)
        {
            if (!IsLeftOut(endpoint, message) && !HasHad(endpoint, message) && !endpoint.Subscription!.CanAccept(message.Length))
            {
                endpoint.Subscription!.Watch?.OnRefused();
                return false;
            }
        }

        var subscribers = _subscribers;
        if (subscribers.Length > 1)
        {
            Starved.Reserve();
        }

        // Before a handler is called: it may block.
        if (_mishaps?.Starved?.IsCounted(message) != true)
        {
            Node.CounterCells.CountDelivered(message.Length);
        }

        for (int i = 0; i < subscribers.Length; i++)
        {
            var endpoint = subscribers[i];
            if (!IsLeftOut(endpoint, message) && !HasHad(endpoint, message))
            {
                Hand(message, subscribers, i);
                if (_departures is not null)
                {
                    NoteTaken(endpoint, message.Sender, message.Sequence);
                }
            }
        }

        _mishaps?.Starved?.Remove(message);
        _departures?.Strays?.Add(new NodeId(message.Sender.Id, message.Sender.Incarnation), message.Sequence);
        return true;
    }

    public override bool WaitsForMemory(in DeliveredMessage message)
    {
        try
        {
            if (Node.Environment.Heap.Room < Math.Max(LeastRoom, (long)message.Length * TimesPayload))
            {
                return true;
            }

            Starved.Reserve();
        }
        catch (OutOfMemoryException)
        {
            return true;
        }

        // There is memory, so the payload may be one for which the codec asks for any size.
        return Starved.CountAttempt(message) < MostAttempts;
    }

    private bool HasHad(TopicEndpoint endpoint, in DeliveredMessage message) => _mishaps?.Starved?.HasHad(endpoint, message) == true;

    private void Hand(in DeliveredMessage message, TopicEndpoint[] subscribers, int at)
    {
        try
        {
            var subscription = subscribers[at].Subscription!;
            subscription.Watch?.OnRoom();
            subscription.Accept(message);
        }
        catch (OutOfMemoryException)
        {
            // Its place was reserved where there are several.
            if (subscribers.Length > 1)
            {
                Starved.NoteHad(message, subscribers, at);
            }

            NoteCounted(message);
            throw;
        }
    }

    private void NoteCounted(in DeliveredMessage message)
    {
        try
        {
            Starved.Reserve();
            Starved.NoteCounted(message);
        }
        catch (OutOfMemoryException)
        {
            // It is counted once more when it comes again. Nothing else depends on that.
        }
    }
}
