using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Nodes.Packets;

// Packets of protocols, for what is small, frequent and may be lost. Core thread only.
internal interface IPacketExchange
{
    /// <summary>
    /// The maximum size of a body in bytes. A packet with a body of more than <see cref="SafeBytes"/> may not pass a path that carries less
    /// than the option PacketBytes.
    /// </summary>
    int MostBytes { get; }

    /// <summary>The size of a body that every path carries.</summary>
    int SafeBytes { get; }

    /// <summary>From now on packets of this kind come to the handler.</summary>
    /// <param name="kind">A kind of the range of protocols (<see cref="PacketKinds"/>), which has no other owner.</param>
    /// <param name="owner">The protocol.</param>
    /// <param name="handler">The handler. It must not trust the body.</param>
    /// <param name="keepsEarly">
    /// Whether packets that the handler refuses because their view is unknown are kept and dispatched again.
    /// </param>
    /// <exception cref="ArgumentException">The kind has another owner, or is outside of the range.</exception>
    void Register(PacketKind kind, string owner, IPacketHandler handler, bool keepsEarly = false);

    /// <summary>
    /// Sends one packet to a member of the view. False: the node is not a member of the cluster. A packet may be lost, come twice, or be
    /// overtaken.
    /// </summary>
    /// <param name="kind">A kind of the range of protocols.</param>
    /// <param name="view">The view. Where packets are sealed, only its members can read the packet.</param>
    /// <param name="to">The member.</param>
    /// <param name="number">The sequence number in the header: 0 to 2^63 - 1.</param>
    /// <param name="body">The body, at most <see cref="MostBytes"/> long.</param>
    /// <exception cref="ArgumentException">The kind is outside of the range, or the body is too long.</exception>
    bool TrySend(PacketKind kind, RegionView view, NodeKey to, long number, ReadOnlySpan<byte> body);
}
