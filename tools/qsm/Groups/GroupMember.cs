using System.Text;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Groups;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Lines;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Groups;

// A member of a group at a terminal: sends lines, and prints what the group delivers, views between messages.
internal sealed class GroupMember(QuickSilverNode node, IGroup<ReadOnlyMemory<byte>> group, LineWriter output, bool showsSender)
{
    // Longer than any repair takes on a network that works at all.
    private static readonly TimeSpan DrainLimit = TimeSpan.FromMinutes(5);

    // What is printed after the member has left, unless the output stands still.
    private static readonly TimeSpan LastPrint = TimeSpan.FromSeconds(5);

    private long _missing;

    /// <summary>Is a member until it is interrupted or, if asked, until all lines are sent. Gives the exit code.</summary>
    public async Task<int> RunAsync(Stream input, bool leaves, CancellationToken interrupted)
    {
        using var over = CancellationTokenSource.CreateLinkedTokenSource(interrupted);
        // Not on this thread: the output may stand still from the first line on.
        var printing = Task.Run(PrintAsync, CancellationToken.None);
        Terminal.Note("ready");
        var sending = SendAsync(input, leaves, over.Token);
        if (await Task.WhenAny(printing, sending) == sending && await sending == ExitCode.Ok && !leaves)
        {
            await Task.WhenAny(printing, Task.Delay(Timeout.Infinite, interrupted));
        }

        await over.CancelAsync();
        int exitCode = await sending;
        await group.DisposeAsync();
        if (await Task.WhenAny(printing, Task.Delay(LastPrint, CancellationToken.None)) != printing)
        {
            Terminal.Error("The output stands still: messages that had come were not written.");
            return ExitCode.Failed;
        }

        await printing;
        return _missing > 0 ? ExitCode.Failed : exitCode;
    }

    private async Task<int> SendAsync(Stream input, bool leaves, CancellationToken over)
    {
        long count = 0;
        try
        {
            await foreach (ReadOnlyMemory<byte> line in LineReader.ReadAsync(input, over))
            {
                await group.SendAsync(line, over);
                count++;
            }

            if (leaves && !await DrainWithin.LimitAsync(DrainLimit, group.DrainAsync, over))
            {
                Terminal.Error(
                    $"{Counted.Of(count, "message")} sent, but not acknowledged by all members within {DrainLimit.TotalMinutes} minutes");
                return ExitCode.Failed;
            }
        }
        catch (MessageTooLargeException)
        {
            Terminal.Error($"line {count + 1} exceeds the limit of {LineReader.MaxLineBytes} bytes");
            return ExitCode.Failed;
        }
        catch (OperationCanceledException) when (over.IsCancellationRequested)
        {
            // The member was interrupted, which is how it leaves, or the printing has ended and says why.
        }
        catch (QuickSilverException) when (over.IsCancellationRequested)
        {
        }

        return ExitCode.Ok;
    }

    private async Task PrintAsync()
    {
        await using var events = group.ReadAllAsync(OnGap).GetAsyncEnumerator();
        while (true)
        {
            ValueTask<bool> next = events.MoveNextAsync();
            if (!next.IsCompleted)
            {
                output.Flush();
            }

            if (!await next)
            {
                break;
            }

            Print(events.Current);
        }

        output.Flush();
    }

    private void Print(in GroupEvent<ReadOnlyMemory<byte>> one)
    {
        if (one.TryGetMessage(out var message))
        {
            output.Write(showsSender ? Encoding.UTF8.GetBytes($"{NameOf(one.Sender)} ") : [], message.Span);
        }
        else
        {
            var view = one.View;
            string members = string.Join(", ", view.Members.Select(member => LabelOf(member, view)));
            output.Write(Encoding.UTF8.GetBytes($"# view {view.Number}: {members}"), []);
        }
    }

    // Members of one name, such as several of these commands on a machine, are distinguished by their ids.
    private string LabelOf(NodeId member, GroupView view)
    {
        string name = node.NameOf(member);
        return view.Members.Count(other => node.NameOf(other) == name) > 1 ? $"{NameOf(member)} ({member})" : NameOf(member);
    }

    private string NameOf(NodeId member) => SafeText.Of(node.NameOf(member));

    private void OnGap(GapNotice gap)
    {
        _missing += gap.Count;
        Terminal.Error(
            $"gap in {SafeText.Of(group.Name)}: {Counted.Of(gap.Count, "message")} of {NameOf(gap.Sender)}, {gap.First} to {gap.Last}: "
            + gap.Reason.InWords());
    }
}
