namespace QuickSilver.Multicast.Nodes;

// Objects that any code of the core thread may fill and read within one call. Each is created when it is first used, and there is one of
// each type for the whole node. The context keeps them, so that they cost a node nothing else.
internal readonly struct ScratchBuffers(NodeContext context)
{
    /// <summary>A packet of the largest size.</summary>
    public byte[] FullPacket => context.ScratchPacket ??= new byte[context.Options.PacketBytes];

    /// <summary>The only object of this type. There are few, so they are looked through.</summary>
    public T Of<T>()
        where T : class, new()
    {
        foreach (object one in context.ScratchObjects)
        {
            if (one is T known)
            {
                return known;
            }
        }

        var made = new T();
        context.ScratchObjects = [.. context.ScratchObjects, made];
        return made;
    }
}
