namespace QuickSilver.Tool.Scenarios.Groups;

// As the token tool of Isis limits the senders of a group: a member that has a token may send, and passes it on to the one that has waited
// longest. They are handed over without a message.
internal sealed class SenderTokens(int count)
{
    private readonly Queue<TaskCompletionSource> _waiting = [];
    private int _free = count;

    public Task TakeAsync()
    {
        if (_free > 0)
        {
            _free--;
            return Task.CompletedTask;
        }

        var turn = new TaskCompletionSource();
        _waiting.Enqueue(turn);
        return turn.Task;
    }

    public void Return()
    {
        if (_waiting.TryDequeue(out var next))
        {
            next.SetResult();
        }
        else
        {
            _free++;
        }
    }
}
