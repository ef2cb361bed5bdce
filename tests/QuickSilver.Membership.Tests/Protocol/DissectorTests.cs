using System.Reflection;
using System.Text.RegularExpressions;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Protocol;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Protocol;

// The tables of tools/wireshark/quicksilver.lua have each kind of packet and of control message, under its number.
public sealed partial class DissectorTests
{
    private static readonly string Script = File.ReadAllText(Path.Combine(RepositoryRoot.Path, "tools", "wireshark", "quicksilver.lua"));

    [Fact]
    public void The_dissector_names_each_kind_of_packet()
    {
        var kinds = Enum.GetValues<PacketKind>().Where(static kind => kind != 0).Select(static kind => (int)kind);

        Assert.Equal(kinds.Order(), NumbersOf("KINDS").Order());
        Assert.Equal(kinds.Order(), NumbersOf("BODIES").Order());
    }

    [Fact]
    public void The_dissector_names_each_kind_of_control_message()
    {
        var kinds = typeof(ControlMessageKind).GetFields(BindingFlags.Public | BindingFlags.Static)
            .Where(static field => field.IsLiteral)
            .ToDictionary(static field => (int)field.GetRawConstantValue()!, static field => field.Name);

        var named = RowsOf("FRAMES").Where(static row => row.Success)
            .ToDictionary(static row => int.Parse(row.Groups[1].Value), static row => row.Groups[2].Value);
        Assert.Equal(kinds.OrderBy(static one => one.Key), named.OrderBy(static one => one.Key));
    }

    [Fact]
    public void The_dissector_has_the_sizes_of_the_wire_format()
    {
        Assert.Contains($"local HEADER_BYTES = {PacketHeader.Bytes}\n", Script, StringComparison.Ordinal);
        Assert.Contains($"local VERSION = {PacketHeader.CurrentVersion}\n", Script, StringComparison.Ordinal);
    }

    private static IEnumerable<int> NumbersOf(string table) => RowsOf(table).Select(static row => int.Parse(row.Groups[1].Value));

    private static IEnumerable<Match> RowsOf(string table)
    {
        int from = Script.IndexOf($"local {table} = {{", StringComparison.Ordinal);
        Assert.True(from >= 0, $"The dissector has no table {table}.");
        return Row().Matches(Script[from..Script.IndexOf("\n}", from, StringComparison.Ordinal)]);
    }

    [GeneratedRegex("""\[(\d+)\] = "?(\w+)""")]
    private static partial Regex Row();
}
