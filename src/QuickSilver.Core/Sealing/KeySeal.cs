namespace QuickSilver.Core.Sealing;

// Both sides of one key at one node.
internal sealed class KeySeal(
    SecretKey key,
    Sealer self,
    ISubkeyBudget budget,
    long packetsPerEpoch = PacketSealer.DefaultPacketsPerEpoch,
    KeyEpochs epochs = default,
    uint begun = 0) : IDisposable
{
    public SecretKey Key => key;

    public PacketSealer Sealer { get; } = new(key, self, packetsPerEpoch, epochs, begun);

    public PacketOpener Opener { get; init; } = new(key, budget);

    /// <summary>Gives up what was derived of the key, and remembers what has come. It is derived again when it is needed.</summary>
    public void Rest()
    {
        Sealer.Dispose();
        Opener.Rest();
    }

    public void Dispose()
    {
        Sealer.Dispose();
        Opener.Dispose();
    }

    /// <summary>Gives the key up. Returns the most epochs of any key that was, of which <paramref name="begun"/> is that so far.</summary>
    public uint GiveUp(uint begun)
    {
        Dispose();
        return Math.Max(begun, Sealer.Steps);
    }
}
