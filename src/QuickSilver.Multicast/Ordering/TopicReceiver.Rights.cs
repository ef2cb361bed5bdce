using System.Collections.Immutable;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Ordering;

// Rights to publish. Messages of a member without the right in a topic with a rule are dropped, whatever keys it has.
//
// Members pass on the packets of a sender that the membership service has not announced here yet, so its messages may come before this
// node knows who it is. They are held until it is announced. Messages of a sender that was removed still come from others too, so its
// identity is remembered for a while.
//
// The service names the identities that are in its cluster. A sender that is in none of this node, because it is away in another one or was
// removed, has not lost its right by that: what it sent before still counts, and its run ends with a gap if it comes back. One that is in
// the cluster and is not named has lost it, and does not have it again when it leaves.
//
// Invariant: a run that has begun in order is of a sender with the right, or of one that had it when its messages came.
internal sealed partial class TopicReceiver
{
    // As many as a topic may name.
    private const int MostFormer = 1 << 16;

    // The identities that may publish; null: everybody may.
    private HashSet<ulong>? _publishers;
    // Those that the service named before, and that it does not name now because they are away; null: none.
    private HashSet<ulong>? _former;
    private int _unproven;

    /// <summary>
    /// Messages of senders without the right are dropped from here on: their runs do not begin, so in order messages of the others cost
    /// nothing for it. Messages that such a sender has sent before stay where they are, as the service said then that it may.
    /// </summary>
    /// <param name="publishers">The identities that may publish; default: everybody may.</param>
    public void Restrict(ImmutableArray<ulong> publishers)
    {
        if (publishers.IsDefault)
        {
            (_publishers, _former) = (null, null);
            return;
        }

        if (_publishers?.SetEquals(publishers) == true)
        {
            return;
        }

        var before = _publishers;
        _publishers = [.. publishers];
        KeepFormer(before);
        for (int i = _senders?.Count - 1 ?? -1; i >= 0; i--)
        {
            var order = _senders![i];
            if (MayPublish(order.Sender) == false && !order.IsBlocked)
            {
                bool hasBegun = !order.IsUnproven;
                Drop(order);
                if (hasBegun)
                {
                    // If it has the right again, what is missing in between is a gap.
                    order.EndRun();
                    Depart(order);
                }
            }
        }
    }

    /// <summary>A configuration was applied: senders that were not known may be known now.</summary>
    public void OnConfiguration(ConfigurationChange change)
    {
        foreach (var node in _former is null ? [] : change.Joined)
        {
            _former!.Remove(node.Identity);
        }

        for (int i = _unproven > 0 && !_isClosed ? _senders!.Count - 1 : -1; i >= 0; i--)
        {
            var order = _senders![i];
            if (order.IsUnproven)
            {
                Prove(order, change.Number);
            }
        }
    }

    private void KeepFormer(HashSet<ulong>? before)
    {
        if (before is null)
        {
            return;
        }

        _former ??= [];
        _former.UnionWith(before);
        _former.ExceptWith(_publishers!);
        _node.Context.Directory.RemoveMembers(_former);
        if (_former.Count is 0 or > MostFormer)
        {
            _former = null;
        }
    }

    /// <summary>Whether messages of this sender are taken; null: it is not known who it is.</summary>
    public bool? MayPublish(NodeKey sender) => _node.Context.Directory.IdentityOf(sender) is not { } identity ? null
        : _publishers!.Contains(identity) || (_former?.Contains(identity) == true && !_node.Context.Directory.Contains(sender));

    private bool IsWithoutRight(NodeKey sender) => _publishers is not null && MayPublish(sender) == false;

    private bool IsUnproven(NodeKey sender)
    {
        bool isUnproven = _publishers is not null && MayPublish(sender) is null;
        _unproven += isUnproven ? 1 : 0;
        return isUnproven;
    }

    private void HoldUnproven(SenderOrder order, ConsumedStream stream, in StreamMessage message)
    {
        long sequence = message.Delivered.Sequence;
        if (!IsReliable)
        {
            // Lost, which is reported when it is known who sent it.
            order.NoteSent(sequence);
        }
        else if ((order.Next != 0 && sequence < order.Next) || !order.Hold(stream, message))
        {
            _node.Context.Counters.DuplicateMessages++;
        }
    }

    private void Prove(SenderOrder order, long configuration)
    {
        bool? may = _publishers is null ? true : MayPublish(order.Sender);
        if (may is null && !(order.BegunUnder > 0 && order.BegunUnder <= configuration))
        {
            return;
        }

        if (may != true)
        {
            // Or it was a member in configurations that this node did not see one by one, and this node will never know.
            OnWithoutRight(order.Sender);
            Drop(order);
            return;
        }

        order.IsUnproven = false;
        _unproven--;
        Drain(order);
        if (!IsReliable)
        {
            _node.Losses.Note(this, order);
        }
        else if (order.TryFirstHeld(out long first) && order.TryPeekHeld(first, out var held))
        {
            _node.OnLoss(held.Stream);
        }
    }

    private void Drop(SenderOrder order)
    {
        _unproven -= order.IsUnproven ? 1 : 0;
        order.IsUnproven = false;
        order.IsOver = true;
        order.DropAll();
        Remove(order);
    }

    private void OnWithoutRight(NodeKey sender)
    {
        long count = ++_node.Context.Counters.MessagesWithoutRight;
        if (RepeatedEvent.IsLogged(count))
        {
            MulticastLog.WithoutRight(_node.Context.Log, _node.Context.Named(sender), Label, count);
        }
    }
}
