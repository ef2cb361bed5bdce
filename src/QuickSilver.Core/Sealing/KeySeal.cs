namespace QuickSilver.Core.Sealing;

// Both sides of one key at one node.
internal sealed class KeySeal(
    SecretKey key,
    Sealer self,
    ISubkeyBudget budget,
    long packetsPerEpoch = PacketSealer.DefaultPacketsPerEpoch,
    KeyEpochs epochs = default,
    SpentEpochs? spent = null) : IDisposable
{
    public SecretKey Key => key;

    public PacketSealer Sealer { get; } = new(key, self, packetsPerEpoch, epochs, spent?.Of(key) ?? 0);

    public PacketOpener Opener { get; } = new(key, budget);

    /// <summary>Gives up what was derived of the key. It is derived again when it is needed.</summary>
    public void Dispose()
    {
        Sealer.Dispose();
        Opener.Dispose();
    }

    /// <summary>The key is given up, for all that is known now.</summary>
    public void GiveUp()
    {
        spent?.Note(key, Sealer.Steps);
        Dispose();
    }
}
