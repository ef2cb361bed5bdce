using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Schemes;

// A member's part of a repair scheme for a whole view. It sees all data packets that are accepted, of whichever stream, and each gap before
// it is requested. So it can make a missing packet out of others, such as a sum of packets that another member has sent.
//
// A data packet has the same bytes at each member, except for the flags Repair and Shared and the checksum.
internal interface IRegionRepair
{
    /// <summary>A data packet was accepted for the first time, whichever way it came. It is valid during the call only.</summary>
    void OnAccepted(IStreamOfMember stream, long number, ReadOnlySpan<byte> packet);

    /// <summary>These numbers are missing. Called before they are requested.</summary>
    void OnMissed(IStreamOfMember stream, long first, long last);

    /// <summary>A packet of one of the scheme's kinds has come, from a live member of the view.</summary>
    DropReason OnPacket(in PacketHeader header, NodeKey from);

    /// <summary>The view is closed here.</summary>
    void Close();
}

// A view of which missing packets may be made out of others.
internal interface IHealedView : IViewOfMember
{
    /// <summary>Whether this member has not had a packet, known to be sent or not.</summary>
    bool IsWanted(StreamKey stream, long number);

    /// <summary>
    /// Takes a data packet that was made out of others, as if it had come. Its checksum need not be right. The caller has checked that the
    /// content is what the sender has sent, as far as it can.
    /// </summary>
    /// <returns>None, or why the packet is not taken.</returns>
    DropReason Heal(ReadOnlySpan<byte> packet);
}
