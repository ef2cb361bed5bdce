using System.Text;
using Microsoft.AspNetCore.Http;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Dashboard;

// What a topic carries, with the nodes that have each version open: the object of `qsm topic describe --json`, asked for when a user
// opens a topic on the page.
internal sealed class TopicPages(Func<string, Task<TopicContracts>> read) : IDisposable
{
    // Each question is a connection to the service.
    private const int MostQuestions = 2;

    private readonly SemaphoreSlim _places = new(MostQuestions);

    public static TopicPages Of(Session session) => new(name => TopicCatalog.ReadAsync(session, name));

    /// <summary>The status and the text of the answer.</summary>
    public async Task<(int Status, string Text)> GetAsync(string? name, CancellationToken cancellationToken)
    {
        if (string.IsNullOrEmpty(name) || Encoding.UTF8.GetByteCount(name) > SetTopicMessage.MaxNameBytes)
        {
            return (StatusCodes.Status400BadRequest, $"The name of a topic has 1 to {SetTopicMessage.MaxNameBytes} bytes.");
        }

        await _places.WaitAsync(cancellationToken);
        try
        {
            var contracts = await read(name);
            return contracts.IsOpen
                ? (StatusCodes.Status200OK, TopicDescriptionJson.Of(contracts).ToJson())
                : (StatusCodes.Status404NotFound, "No node has the topic open.");
        }
        catch (ToolException exception)
        {
            return (StatusCodes.Status503ServiceUnavailable, exception.Message);
        }
        finally
        {
            _places.Release();
        }
    }

    public void Dispose() => _places.Dispose();
}
