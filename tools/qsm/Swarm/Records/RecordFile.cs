using System.Buffers.Binary;

namespace QuickSilver.Tool.Swarm.Records;

// The records of one process's nodes in one file: a magic number, then blocks, each of one node and of whole records in the
// order in which they happened there. Blocks of different nodes stand as they were filled; the records' times order them.
internal sealed class RecordFile : IDisposable
{
    /// <summary>The name, and the version of the form.</summary>
    public static ReadOnlySpan<byte> Magic => "QSMSWRM1"u8;

    private readonly FileStream _file;
    private readonly List<NodeRecorder> _nodes = [];
    private readonly Lock _lock = new();

    public RecordFile(string path)
    {
        _file = new FileStream(path, FileMode.Create, FileAccess.Write, FileShare.Read);
        _file.Write(Magic);
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

    /// <summary>The run is over: what happens while the nodes leave is nobody's business.</summary>
    public void Close()
    {
        foreach (var node in _nodes)
        {
            node.Close();
        }

        _file.Flush();
    }

    public void Dispose() => _file.Dispose();
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
