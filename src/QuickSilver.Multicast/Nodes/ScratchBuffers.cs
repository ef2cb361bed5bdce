namespace QuickSilver.Multicast.Nodes;

// Objects that any code of the core thread may fill and read within one call. Each is created when it is first used, and there is one of
// each type for the whole node.
internal sealed class ScratchBuffers(NodeOptions options)
{
    private readonly List<object> _all = [];
    private byte[]? _fullPacket;

    /// <summary>A packet of the largest size.</summary>
    public byte[] FullPacket => _fullPacket ??= new byte[options.PacketBytes];

    /// <summary>The only object of this type. There are few, so they are looked through.</summary>
    public T Of<T>()
        where T : class, new()
    {
        foreach (object one in _all)
        {
            if (one is T known)
            {
                return known;
            }
        }

        var made = new T();
        _all.Add(made);
        return made;
    }
}
