namespace QuickSilver.Core.Sealing;

// How the epochs of one key are numbered on the wire. Those of a view's key are 1, 2, 3 and so on. Those of a view's rest begin again for
// each key of the cluster, and name it: the highest bit is set, the next 15 are of the label of the cluster's key, and the others count.
internal readonly record struct KeyEpochs
{
    private const uint Rest = 1U << 31;
    private const int LabelShift = 16;
    private const uint LabelMask = (1U << 15) - 1;
    private const uint MostOfRest = (1U << LabelShift) - 1;

    private readonly uint _base;

    private KeyEpochs(uint first)
    {
        _base = first;
    }

    public static KeyEpochs OfRest(uint clusterLabel) => new(Rest | ((clusterLabel & LabelMask) << LabelShift));

    /// <summary>Whether a packet of this epoch is of the rest of its view.</summary>
    public static bool IsOfRest(uint epoch) => (epoch & Rest) != 0;

    /// <summary>Whether an epoch of a rest names the cluster's key with this label.</summary>
    public static bool Names(uint epoch, uint clusterLabel) => ((epoch >> LabelShift) & LabelMask) == (clusterLabel & LabelMask);

    /// <summary>The number of an epoch on the wire.</summary>
    /// <param name="step">From 1.</param>
    /// <exception cref="InvalidOperationException">There are no further epochs: a number would be used twice.</exception>
    public uint Number(uint step) =>
        step != 0 && step <= (_base == 0 ? Rest - 1 : MostOfRest)
            ? _base | step
            : throw new InvalidOperationException($"A key has no epoch {step}.");
}
