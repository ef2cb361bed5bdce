namespace QuickSilver;

internal static class ConsumerKey<TKey>
{
    private const uint Offset = 2_166_136_261;
    private const uint Prime = 16_777_619;

    /// <summary>
    /// A hash of the key. The runtime seeds its hash of a string in each process, so that a run of the simulator would not repeat.
    /// </summary>
    public static int HashOf(TKey key) => key switch
    {
        null => 0,
        string text => HashOf(text),
        _ => EqualityComparer<TKey>.Default.GetHashCode(key),
    };

    private static int HashOf(string text)
    {
        uint hash = Offset;
        foreach (char c in text)
        {
            hash = (hash ^ c) * Prime;
        }

        return (int)hash;
    }
}
