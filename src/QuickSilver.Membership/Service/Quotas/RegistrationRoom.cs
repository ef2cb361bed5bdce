namespace QuickSilver.Membership.Service.Quotas;

// The bytes of topics that are named by nodes whose registration is not complete. One certificate, and one machine, have no more of them
// than one node may need, so that they leave room for others.
internal sealed class RegistrationRoom(SessionLimits limits)
{
    private readonly PeerTotals _bytes = new(limits.MaxRegistrationBytes, limits.MaxRegistrationBytes);
    private long _all;

    public bool TryTake(in PeerSource place, long bytes)
    {
        if (_all + bytes > limits.MaxRegistrationBytesInAll || _bytes.FullFor(place, bytes) is not null)
        {
            return false;
        }

        _bytes.Take(place, bytes);
        _all += bytes;
        return true;
    }

    public void GiveBack(in PeerSource place, long bytes)
    {
        _bytes.GiveBack(place, bytes);
        _all -= bytes;
    }
}
