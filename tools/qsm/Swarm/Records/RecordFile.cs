using System.Buffers.Binary;

namespace QuickSilver.Tool.Swarm.Records;

// The records of one process's nodes in one file: a magic number, how many nodes the swarm has in all, then blocks, each of one
// node and of whole records in the order in which they happened there, and an end. Blocks of different nodes stand as they were
// filled; the records' times order them. Without the end, or without all nodes' records, what was published by some is not
// known, and what others were given of it would look like phantoms.
internal sealed class RecordFile : IDisposable
{
    /// <summary>The name, and the version of the form.</summary>
    public static ReadOnlySpan<byte> Magic => "QSMSWRM2"u8;

    /// <summary>Stands in place of a block's node, after the last block.</summary>
    public const int End = -1;

    private readonly FileStream _file;
    private readonly List<NodeRecorder> _nodes = [];
    private readonly Lock _lock = new();

    public RecordFile(string path, int totalNodes)
    {
        _file = new FileStream(path, FileMode.Create, FileAccess.Write, FileShare.Read);
        _file.Write(Magic);
        Write(totalNodes);
    }

    public NodeRecorder Node(int number)
    {
        var node = new NodeRecorder(this, number);
        lock (_lock)
        {
            _nodes.Add(node);
        }

        return node;
    }

    public void Write(int node, ReadOnlySpan<byte> records)
    {
        Span<byte> head = stackalloc byte[2 * sizeof(int)];
        BinaryPrimitives.WriteInt32LittleEndian(head, node);
        BinaryPrimitives.WriteInt32LittleEndian(head[sizeof(int)..], records.Length);
        lock (_lock)
        {
            _file.Write(head);
            _file.Write(records);
        }
    }

    /// <summary>The run is over: what happens while the nodes leave does not matter.</summary>
    public void Close()
    {
        foreach (var node in _nodes)
        {
            node.Close();
        }

        lock (_lock)
        {
            Write(End);
            _file.Flush();
        }
    }

    public void Dispose() => _file.Dispose();

    private void Write(int number)
    {
        Span<byte> bytes = stackalloc byte[sizeof(int)];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, number);
        _file.Write(bytes);
    }
}

// What a record is about; its first byte.
internal enum RecordKind : byte
{
    View = 1,
    Routes,
    Published,
    Delivered,
    Gap,
    Activated,
    Subscribed,
    Configured,
    Stopped,
}
