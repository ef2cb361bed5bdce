using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol;

// How the names of nodes and the labels of their processes are written inside messages. Texts of other nodes are printed on terminals and
// in logs, so what is read has only the characters that a name may have, whatever was written.
internal static class ProcessFields
{
    public const int MaxVersionBytes = 64;

    public static string ReadName(ref ProtobufReader reader, ControlField field) =>
        NodeName.Clean(reader.ReadText(field, NodeName.MaxBytes));

    /// <summary>All but the application, which is part of the name.</summary>
    public static void Write(ControlBuffer buffer, int field, ProcessLabel process)
    {
        if (process is { Machine: "", Process: "", ProcessId: 0, Version: "" })
        {
            return;
        }

        int start = buffer.Begin(field);
        buffer.Text(1, NodeName.Clean(process.Machine));
        buffer.Text(2, NodeName.Clean(process.Process));
        buffer.UInt64(3, (ulong)process.ProcessId);
        buffer.Text(4, NodeName.Clean(process.Version, MaxVersionBytes));
        buffer.End(start);
    }

    public static ProcessLabel Read(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        string machine = "", process = "", version = "";
        int id = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: machine = ReadName(ref reader, field); break;
                case 2: process = ReadName(ref reader, field); break;
                case 3: id = reader.ReadInt32(field, int.MaxValue); break;
                case 4: version = NodeName.Clean(reader.ReadText(field, MaxVersionBytes)); break;
                default: reader.Skip(field); break;
            }
        }

        return new ProcessLabel { Machine = machine, Process = process, ProcessId = id, Version = version };
    }
}
