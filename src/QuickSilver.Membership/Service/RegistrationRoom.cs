using QuickSilver.Core.Transport;

namespace QuickSilver.Membership.Service;

// The bytes of topics that are named by nodes whose registration is not complete. One certificate, or one machine where none are shown, has
// no more of them than one node may need, so that it leaves room for others.
internal sealed class RegistrationRoom(SessionLimits limits)
{
    private readonly Dictionary<object, long> _byPeer = [];
    private long _all;

    /// <summary>Whose registration comes over the stream: a certificate, or a machine.</summary>
    public static object PeerOf(IControlStream stream) => stream.Peer is { IsShared: false, Name: var name } ? name
        : stream.RemoteEndPoint is { } remote ? remote.Address : "";

    public bool TryTake(object peer, long bytes)
    {
        long taken = _byPeer.GetValueOrDefault(peer) + bytes;
        if (_all + bytes > limits.MaxRegistrationBytesInAll || taken > limits.MaxRegistrationBytes)
        {
            return false;
        }

        _byPeer[peer] = taken;
        _all += bytes;
        return true;
    }

    public void GiveBack(object peer, long bytes)
    {
        long left = _byPeer.GetValueOrDefault(peer) - bytes;
        _all -= bytes;
        if (left > 0)
        {
            _byPeer[peer] = left;
        }
        else
        {
            _byPeer.Remove(peer);
        }
    }
}
