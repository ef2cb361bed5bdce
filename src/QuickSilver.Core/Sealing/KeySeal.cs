namespace QuickSilver.Core.Sealing;

// Both sides of one key at one node.
internal sealed class KeySeal(SecretKey key, Sealer self, ISubkeyBudget budget, long packetsPerEpoch = PacketSealer.DefaultPacketsPerEpoch)
    : IDisposable
{
    public SecretKey Key => key;

    public PacketSealer Sealer { get; } = new(key, self, packetsPerEpoch);

    public PacketOpener Opener { get; } = new(key, budget);

    /// <summary>Whether the key is of what is over. Little is opened under it, and nothing that was derived for that is kept.</summary>
    public bool IsClosed { get; private set; }

    /// <summary>Gives up what was derived of the key. It is derived again when it is needed.</summary>
    public void Close()
    {
        IsClosed = true;
        Rest();
    }

    private void Rest()
    {
        Sealer.Dispose();
        Opener.Dispose();
    }

    public void Dispose() => Rest();
}
