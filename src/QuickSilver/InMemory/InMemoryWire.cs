using System.Collections.Immutable;
using QuickSilver.Membership.Views;

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
    // The subscribers, between the messages; null: there are none.
    private RegionView? _view;

    public ulong TopicId => topicId;

    public void Add(InMemoryReceiver receiver)
    {
        lock (_sending)
        {
            ImmutableInterlocked.Update(ref _receivers, static (all, one) => all.Add(one), receiver);
            if (_view is { } view)
            {
                receiver.PostView(view);
            }
        }
    }

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
        if (HasRoom() && !sender.IsHeld)
        {
            return true;
        }

        lock (_lock)
        {
            _blocked.Add(sender);
        }

        if (!HasRoom() || sender.IsHeld)
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

    /// <summary>
    /// The topic has other subscribers, or one of them has left and come back. All that is sent from now on is sent to these.
    /// </summary>
    public void SendView(RegionView view)
    {
        lock (_sending)
        {
            if (_view is { } before && before.Members.AsSpan().SequenceEqual(view.Members.AsSpan())
                && before.Since.AsSpan().SequenceEqual(view.Since.AsSpan()))
            {
                return;
            }

            _view = view.Members.IsEmpty ? null : view;
            foreach (var receiver in _receivers)
            {
                receiver.PostView(view);
            }
        }
    }

    /// <summary>The topic is open on no node any more.</summary>
    public void ForgetView()
    {
        lock (_sending)
        {
            _view = null;
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
