using System.Collections.Immutable;

namespace QuickSilver.InMemory;

// What carries the messages of one topic from the core thread of a sender to those of its receivers. A receiver whose reader takes nothing
// keeps the senders waiting, as it does on a network.
internal sealed class InMemoryWire(ulong topicId)
{
    // The most messages that wait for one receiver. Senders may exceed it by a message each.
    private const int MaxWaiting = 1024;

    private readonly Lock _lock = new();
    // Held while a message is passed to all receivers: one that is removed gets nothing that is sent afterwards.
    private readonly Lock _sending = new();
    private readonly HashSet<InMemorySender> _blocked = [];
    private ImmutableArray<InMemoryReceiver> _receivers = [];

    public ulong TopicId => topicId;

    public void Add(InMemoryReceiver receiver) => ImmutableInterlocked.Update(ref _receivers, static (all, one) => all.Add(one), receiver);

    public void Remove(InMemoryReceiver receiver)
    {
        lock (_sending)
        {
            ImmutableInterlocked.Update(ref _receivers, static (all, one) => all.Remove(one), receiver);
        }

        OnRoom();
    }

    /// <summary>Whether each receiver has room. If not, the sender is notified when there is some.</summary>
    public bool AwaitRoom(InMemorySender sender)
    {
        if (HasRoom())
        {
            return true;
        }

        lock (_lock)
        {
            _blocked.Add(sender);
        }

        if (!HasRoom())
        {
            return false;
        }

        // It came in between, and the receiver may not have seen that the sender waits.
        Forget(sender);
        return true;
    }

    public void Forget(InMemorySender sender)
    {
        lock (_lock)
        {
            _blocked.Remove(sender);
        }
    }

    public void Send(InMemoryMessage message)
    {
        lock (_sending)
        {
            foreach (var receiver in _receivers)
            {
                receiver.PostMessage(message);
            }
        }
    }

    /// <summary>A receiver has taken messages, or has left.</summary>
    public void OnRoom()
    {
        InMemorySender[] waiting;
        lock (_lock)
        {
            if (_blocked.Count == 0 || !HasRoom())
            {
                return;
            }

            waiting = [.. _blocked];
            _blocked.Clear();
        }

        foreach (var sender in waiting)
        {
            sender.PostRoom();
        }
    }

    private bool HasRoom()
    {
        foreach (var receiver in _receivers)
        {
            if (receiver.Waiting >= MaxWaiting)
            {
                return false;
            }
        }

        return true;
    }
}
