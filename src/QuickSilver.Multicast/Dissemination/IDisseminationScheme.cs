using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.Dissemination;

// A way of reaching the members of a view. A node has one scheme; all members of a cluster have the same.
internal interface IDisseminationScheme
{
    IDisseminator ToSend(MulticastContext context, SendingPorts ports, RegionView view);

    /// <summary>What a member does with packets besides handing them up; null: nothing.</summary>
    IForwarder? ToForward(MulticastContext context, RegionView view) => null;
}

// A member's part of a scheme in which members pass packets on.
internal interface IForwarder
{
    /// <summary>A packet of data was taken, for the first time. It is valid during the call only.</summary>
    void OnReceived(in PacketHeader header, ReadOnlySpan<byte> packet);

    /// <summary>The view is closed here.</summary>
    void Close();
}
